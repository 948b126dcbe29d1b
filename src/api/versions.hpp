// SPDX-License-Identifier: BSD-3-Clause
// Structs that programs hand over begin with their size: by it the library knows which version of the struct the
// program was built with. A size that no version has is a mistake of the program, and is told.
#pragma once

#include <quire/quire.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/detail.hpp"

namespace quire::api {

/// The sizes that a struct has had, oldest first. Whoever adds a field keeps the size from before.
template <class Struct>
inline constexpr std::size_t sizes_of[] = {sizeof(Struct)};
template <>
inline constexpr std::size_t sizes_of<quire_region_options>[] = {
    offsetof(quire_region_options, heap), offsetof(quire_region_options, minipage_bytes),
    offsetof(quire_region_options, grouping), sizeof(quire_region_options)};
template <>
inline constexpr std::size_t sizes_of<quire_counters>[] = {
    offsetof(quire_counters, commits), offsetof(quire_counters, host_units), sizeof(quire_counters)};
static_assert(offsetof(quire_region_options, minipage_bytes) == 48);  // `orders` is where `heap` had padding behind it

template <class Struct>
[[nodiscard]] bool is_size_of(std::size_t size) noexcept {
  return std::ranges::find(sizes_of<Struct>, size) != std::ranges::end(sizes_of<Struct>);
}

/// The same of a struct `name` that was given to `call`; if not, quire_last_error() says so.
template <class Struct>
[[nodiscard]] bool has_known_size(const Struct* given, const char* call, const char* name) noexcept {
  if (is_size_of<Struct>(given->size)) return true;
  (void)base::explain(QUIRE_INVALID, "%s(): %s.size is %zu; set it to sizeof(%s), %zu", call, name, given->size, name,
                      sizeof(Struct));
  return false;
}

/// Takes what a program gave to `call`, of whichever version; the rest stays zero. Null means all zero. False if its
/// size is that of no version.
template <class Struct>
[[nodiscard]] bool take(const Struct* given, Struct& to, const char* call, const char* name) noexcept {
  to = {};
  if (given == nullptr) return true;
  if (!has_known_size(given, call, name)) return false;
  std::memcpy(&to, given, given->size);
  return true;
}

}  // namespace quire::api
