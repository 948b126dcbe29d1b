// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <quire/quire.h>

namespace quire::program {

/// Says what cannot be done, why, and what quire_last_error() adds; ends the node, and with it the job.
[[noreturn]] void fail(const char* what, quire_status why) noexcept;

/// The same, of what the system has refused with `error`; names the limit that is behind it.
[[noreturn]] void fail_for_system(const char* what, int error, quire_status why) noexcept;
[[noreturn]] void fail_for_thread(int error) noexcept;
/// A line, once a node: the program gets `error` where it asks for a thread, as a limit is reached.
void tell_of_thread(int error) noexcept;
/// The same of a thread on another node, which may not come to say so.
void tell_of_thread_elsewhere(int node, int error) noexcept;

}  // namespace quire::program
