// SPDX-License-Identifier: BSD-3-Clause
// Large static objects of a module, by its symbol table: what `mixed` memory (process/memory_mode.hpp) gives release
// consistency.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/process/modules.hpp"

namespace quire::program {

/// Whole pages within one object, and the page on which it ends if another large one begins there and nothing else is
/// on it.
struct large_object {
  std::uint64_t first = 0, bytes = 0;
};
/// An object of fewer bytes may be a flag, a lock or a counter.
inline constexpr std::uint64_t least_large_bytes = 64u << 10;

/// Within the data that the module shares, in order of their addresses, none beside the bytes of a small object on a
/// page. Empty for a stripped file. All nodes read the same file.
[[nodiscard]] std::vector<large_object> large_objects(const module& m, const data_range& data);

}  // namespace quire::program
