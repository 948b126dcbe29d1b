// SPDX-License-Identifier: BSD-3-Clause
// What an access outside of all memory means, where this front-end knows it.
#pragma once

namespace quire::program {

/// Before the job starts: SIGSEGV and SIGBUS that nobody else handles come here. A handler of the program's own takes
/// its place.
void explain_crashes() noexcept;
/// From now on a thread that finds no shared memory any more sleeps, and ends with the process: all but the caller.
void stop_others_at_faults() noexcept;

}  // namespace quire::program
