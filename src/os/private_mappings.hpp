// SPDX-License-Identifier: BSD-3-Clause
// Where the private memory of this process lies, as /proc/self/maps tells, and making it lie elsewhere than in other
// processes of the program. For QUIRE_CHECK=pointers. Application context.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quire::os {

struct private_mapping {
  std::uint64_t first = 0, end = 0;
  std::string
      name;  ///< "[heap]", "[stack]", a file whose data or bss it is; empty: malloc, mmap or the stack of a thread
};

/// All that is private and may be written, in the order of addresses. Empty if /proc cannot be read.
[[nodiscard]] std::vector<private_mapping> writable_private_mappings();

/// What malloc(3) and mmap(2) give from now on lies elsewhere for each `number`: what malloc has free is used up, and
/// 64 KiB of the heap and 64 MiB of addresses (an arena of malloc) are left out for each of it. Other arenas of threads
/// that run already stay. False if the addresses cannot be had.
[[nodiscard]] bool shift_private_memory(unsigned number);

}  // namespace quire::os
