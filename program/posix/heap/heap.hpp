// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "program/posix/memory/callers.hpp"

namespace quire::program {

/// Shared memory. Null, and errno, if there is none.
[[nodiscard]] void* allocate_shared(std::size_t bytes, std::size_t alignment = 16, bool zero = false) noexcept;

/// What malloc(3) gives a caller, and takes back. Null, and errno, if there is none.
[[nodiscard]] void* allocate_for(const void* caller, std::size_t bytes, std::size_t alignment) noexcept;
void give_back(void* at) noexcept;

/// While it lives all memory by malloc(3), of the one thread there is, is its own, and goes with it. What libc has free
/// at the start has the same addresses on all nodes, and so should be little.
class scratch_memory {
 public:
  scratch_memory() noexcept;
  scratch_memory(const scratch_memory&) = delete;
  scratch_memory& operator=(const scratch_memory&) = delete;
  ~scratch_memory();
};

}  // namespace quire::program
