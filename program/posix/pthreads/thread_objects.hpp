// SPDX-License-Identifier: BSD-3-Clause
// thread_local objects of libraries that were loaded during the run: as long as one is to be destroyed, on any node,
// its library stays (as with libc, which knows of its own node only).
#pragma once

#include "program/process/modules.hpp"

namespace quire::program {

/// A thread will destroy an object of the library with this handle (__dso_handle), or has done so.
void note_thread_object(const void* library) noexcept;
void forget_thread_object(const void* library) noexcept;
/// Whether it is one of those that all nodes have loaded.
[[nodiscard]] bool is_loaded_later(const void* library) noexcept;
/// Libc's handle of a library that this node alone has loaded, once more than the program has it; null: it is none.
[[nodiscard]] void* hold_library(const void* library) noexcept;
/// What was held may go with the next dlclose(3), as with libc; and that is now.
void drop_library(void* held) noexcept;
void close_dropped() noexcept;
/// On any node.
[[nodiscard]] bool has_thread_objects(const module& m) noexcept;

}  // namespace quire::program
