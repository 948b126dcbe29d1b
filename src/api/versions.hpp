// Structs that programs hand over begin with their size: by it the library knows which version of the struct the
// program was built with. A size that no version has is a mistake of the program, and is told.
#pragma once

#include <quire/quire.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace quire::api {

/// The sizes that a struct has had, oldest first. Whoever adds a field keeps the size from before.
template <class Struct>
inline constexpr std::size_t sizes_of[] = {sizeof(Struct)};

template <class Struct>
[[nodiscard]] bool is_size_of(std::size_t size) noexcept {
  return std::ranges::find(sizes_of<Struct>, size) != std::ranges::end(sizes_of<Struct>);
}

/// Takes what a program gave, of whichever version; the rest stays zero. Null means all zero. False if its size is that
/// of no version.
template <class Struct>
[[nodiscard]] bool take(const Struct* given, Struct& to) noexcept {
  to = {};
  if (given == nullptr) return true;
  if (!is_size_of<Struct>(given->size)) return false;
  std::memcpy(&to, given, given->size);
  return true;
}

}  // namespace quire::api
