// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire::openmp {

struct span {
  std::uintptr_t first = 0, bytes = 0;
  [[nodiscard]] bool has(const void* at) const noexcept { return reinterpret_cast<std::uintptr_t>(at) - first < bytes; }
};
/// The code of the module that has `symbol`.
[[nodiscard]] span code_around(const void* symbol) noexcept;

/// From now on threads of the program get shared memory by malloc(3) and its family (heap.cpp).
void open_heap() noexcept;
/// And from now on not any more. What is shared is not freed then.
void close_heap() noexcept;

/// Whether code of the program has made a call: `caller`, a return address, is neither in libc, nor in the dynamic
/// linker, Quire or another allocator; nor in libgfortran for what it keeps of a unit.
[[nodiscard]] bool from_program(const void* caller) noexcept;
/// The same, and the stack is a shared one. Such a call gets shared memory.
[[nodiscard]] bool for_program(const void* caller) noexcept;
/// Whether an address lies in the shared heap, as stacks do too.
[[nodiscard]] bool in_heap(const void* at) noexcept;
/// Whether the program has shared memory: not yet, or not any more.
[[nodiscard]] bool is_heap_open() noexcept;
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

/// The return address of the function that it stands in.
#define QUIRE_CALLER __builtin_return_address(0)

}  // namespace quire::openmp
