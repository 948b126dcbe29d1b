// SPDX-License-Identifier: BSD-3-Clause
// What nodes know together of libraries that the program loads during the run (loader/loading).
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace quire::program {

/// In shared memory. A handle is the address of one; it begins as libc's do, for those who look there.
struct loaded_library {
  static constexpr std::size_t most = 2048;
  link_map about;
  std::uint32_t opened;  ///< times
  std::uint32_t kept;    ///< 1: once more than the program has, as threads have objects of it to destroy
  bool stays;            ///< on node 0 alone, until the program ends
};

/// Where libraries lie: behind threads' places (posix/memory/thread_data.cpp), before programs that `quire exec` has
/// mapped itself.
inline constexpr std::uint64_t first_library = 0x3c00'0000'0000, end_of_libraries = 0x3f00'0000'0000;
inline constexpr std::uint64_t library_gap = 32u << 20;  ///< their files lie at multiples of this

/// Whether a library at this address was loaded for all nodes.
[[nodiscard]] constexpr bool is_placed(std::uint64_t base) noexcept {
  return base >= first_library && base < end_of_libraries;
}

}  // namespace quire::program
