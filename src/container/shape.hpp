// SPDX-License-Identifier: BSD-3-Clause
// How large a container is, and what its options may say. Pure.
#pragma once

#include <quire/container.h>

#include <cstdint>
#include <string_view>

#include "base/status.hpp"

namespace quire::container {

inline constexpr std::size_t longest_what = 1023;

/// One that can be a container's: a component of a path. Else QUIRE_INVALID, with a sentence that names `call`.
[[nodiscard]] base::status check_name(const char* call, const char* name) noexcept;
/// What can be told of options before anybody looks at the linker. Sentences, as above.
[[nodiscard]] base::status check_options(const quire_container_options& given, int nodes) noexcept;

struct shape {
  std::uint64_t bytes = 0;     ///< of content
  std::uint64_t capacity = 0;  ///< whole units
  std::uint64_t unit_bytes = 4096;
};
/// Bytes of the shared range; of a linker, null for "memory", and of what it has (UINT64_MAX: it does not say).
struct surroundings {
  std::uint64_t range_bytes = 0;
  const quire_linker* linker = nullptr;
  std::uint64_t linked_bytes = UINT64_MAX;
};
[[nodiscard]] base::status shape_of(const quire_container_options& given, const surroundings& s, shape& made) noexcept;
/// The size of its units, which the linker has to say before it is opened.
[[nodiscard]] base::status unit_of(const quire_container_options& given, const quire_linker* linker,
                                   std::uint64_t& unit_bytes) noexcept;

/// Whether a linker's containers can become longer.
[[nodiscard]] inline bool grows(const quire_linker& of) noexcept {
  return (of.can & QUIRE_LINK_WRITE) != 0 && (of.grain == 0 || (of.can & QUIRE_LINK_TRUNCATE) != 0);
}

}  // namespace quire::container
