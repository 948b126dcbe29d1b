// SPDX-License-Identifier: BSD-3-Clause
// Becomes a program where the system gives no program fixed addresses (personality(2) is refused, as in many
// containers): maps it and its ELF interpreter here, at addresses of our choice, in the place of execve(2).
#pragma once

#include <cstdint>
#include <string>

namespace quire::tools {

/// Where things lie: below all that the kernel places by itself, and the same on all nodes. Libraries come below
/// `hole_end`: the kernel takes the highest addresses that are free, and all above are taken, without memory.
/// program/posix/memory/own_addresses.cpp looks for them there.
struct program_places {
  static constexpr std::uint64_t stack = 0x3f00'0000'0000;    ///< and upwards, as large as its limit
  static constexpr std::uint64_t program = 0x3f80'0000'0000;  ///< of one that is position-independent
  static constexpr std::uint64_t hole_end = 0x4800'0000'0000;
};

/// Does not return if all is well: the program at `path` (an ELF file that names an interpreter) runs, with these
/// arguments, and the environment as it is. Else a sentence says why not, and nothing was changed that matters.
/// Main thread, no other threads.
[[nodiscard]] std::string place_program(const std::string& path, char** arguments, std::uint64_t stack_bytes);

}  // namespace quire::tools
