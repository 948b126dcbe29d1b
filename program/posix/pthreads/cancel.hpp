// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pthread.h>

namespace quire::program {

/// A signal has been sent to a thread of this node. If it has a handler, the call that a clerk makes for the thread
/// ends by EINTR, unless SA_RESTART has it begin again; the kernel ends those that the thread makes itself.
void end_call_for_handler(pthread_t thread, int number) noexcept;

}  // namespace quire::program
