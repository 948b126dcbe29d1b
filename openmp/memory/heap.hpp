// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quire::openmp {

/// From now on threads of the program get shared memory by malloc(3) and its family (heap.cpp).
void open_heap() noexcept;
/// And from now on not any more. What is shared is not freed then.
void close_heap() noexcept;

}  // namespace quire::openmp
