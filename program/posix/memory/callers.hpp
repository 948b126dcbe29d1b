// SPDX-License-Identifier: BSD-3-Clause
// Whose call it is: the program's, which gets shared memory, or that of a library which works for a node alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "program/process/code_span.hpp"

namespace quire::program {

/// From now on threads of the program get shared memory by malloc(3) and its family (posix/heap/heap.cpp).
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
/// The same, whether the heap is open or not.
[[nodiscard]] bool lies_in_heap(const void* at) noexcept;

/// At the start: calls from this code, an allocator's or a sanitizer's, are not the program's. False: there are too
/// many.
bool note_other_allocator(span code) noexcept;

/// The return address of the function that it stands in.
#define QUIRE_CALLER __builtin_return_address(0)

}  // namespace quire::program
