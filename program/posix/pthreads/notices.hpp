// SPDX-License-Identifier: BSD-3-Clause
// Functions of the program that are to be called when something has happened (SIGEV_THREAD). Libc calls them on threads
// of its own, which block all signals and so die of the first fault, and whose private stack no other node sees.
#pragma once

#include <signal.h>

namespace quire::program {

/// As sigevent(7) says of a call of libc that is done: a signal to this process, or a thread of the program on this
/// node that calls its function.
void give_notice(const sigevent& how) noexcept;

/// Before the program's memory goes: timers that still run start no thread any more.
void stop_notices() noexcept;

}  // namespace quire::program
