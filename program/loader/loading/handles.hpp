// SPDX-License-Identifier: BSD-3-Clause
// Handles of dlopen(3): each node has its own of libc's, and the program gets one that is good on all nodes.
#pragma once

#include <cstddef>

#include "program/job/loaded_library.hpp"

namespace quire::program {

/// For threads of this node from now on.
void open_handles(loaded_library* all) noexcept;
/// Libc's handle, on this node, of a library.
void* own_handle(std::size_t number) noexcept;
void set_own_handle(std::size_t number, void* own) noexcept;
/// The number of the library that libc knows here as `own`, or that the program knows by a handle; `most`: none.
[[nodiscard]] std::size_t number_of_own(const void* own) noexcept;
[[nodiscard]] std::size_t number_of_handle(const void* handle) noexcept;

/// What dlerror(3) tells the calling thread next.
void set_load_error(const char* text) noexcept;

}  // namespace quire::program
