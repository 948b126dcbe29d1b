// SPDX-License-Identifier: BSD-3-Clause
// What the program has done with signals before the start of the job.
#pragma once

namespace quire::api::calls {

/// After the start, in its thread: handlers that are there count as if they were installed now, and neither they nor
/// this thread block SIGSEGV and SIGBUS.
void take_over_signals() noexcept;

}  // namespace quire::api::calls
