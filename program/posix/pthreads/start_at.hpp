// SPDX-License-Identifier: BSD-3-Clause
// Threads of Quire's own that run the program's code, each at its place (posix/memory/thread_data.hpp).
#pragma once

#include <cstddef>

namespace quire::program {

/// Starts a thread of this node at its place: 0 is the lead's, behind it workers' (no such place: anywhere). Ends the
/// node if it cannot.
void start_thread_at(std::size_t place, void* (*body)(void*), void* argument, bool detached) noexcept;

/// Waits for the end of the lead, which was not detached.
void wait_for_lead() noexcept;

}  // namespace quire::program
