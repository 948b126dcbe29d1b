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

/// Whether code of the program has made a call: `caller`, a return address, is neither in libc, nor in the dynamic linker or Quire;
/// nor in libgfortran for what it keeps of a unit.
[[nodiscard]] bool from_program(const void* caller) noexcept;
/// The same, and the stack is a shared one. Such a call gets shared memory.
[[nodiscard]] bool for_program(const void* caller) noexcept;
/// Whether an address lies in the shared heap, as stacks do too.
[[nodiscard]] bool in_heap(const void* at) noexcept;
/// Shared memory. Null, and errno, if there is none.
[[nodiscard]] void* allocate_shared(std::size_t bytes, std::size_t alignment = 16, bool zero = false) noexcept;

/// The return address of the function that it stands in.
#define QUIRE_CALLER __builtin_return_address(0)

}  // namespace quire::openmp
