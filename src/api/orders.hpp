// SPDX-License-Identifier: BSD-3-Clause
// Threads that begin for what another node asks for: thread_service::procedure. Each is detached, and has an empty
// signal mask of its own: the driver may be in a fault handler. 0 or errno.
#pragma once

#include <cstddef>

namespace quire::api {

/// `body` gets a thread_service::plan that is its own, from `new`.
[[nodiscard]] int start_thread(const std::byte* plan, void* (*body)(void*)) noexcept;

int start_spawned_thread(const std::byte* plan);
// They touch shared memory, and run what is the program's: constructors, linkers.
int start_code_order(const std::byte* plan);
int start_container_order(const std::byte* plan);

}  // namespace quire::api
