// SPDX-License-Identifier: BSD-3-Clause
// Threads of libc's whose pthread_t no thread of another node has, so that it tells the node (of_node.hpp).
#pragma once

#include <pthread.h>

namespace quire::program {

/// As pthread_create(3) of libc. EAGAIN with a line, too, where the node has no addresses of its own any more. A thread
/// with a stack that the program has mapped has its address; nodes are told.
[[nodiscard]] int make_told_apart(pthread_t* thread, const pthread_attr_t* about, void* (*body)(void*),
                                  void* argument) noexcept;

}  // namespace quire::program
