// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <quire/quire.h>

namespace quire::openmp {

/// Says what cannot be done, why, and what quire_last_error() adds; ends the node, and with it the job.
[[noreturn]] void fail(const char* what, quire_status why) noexcept;

/// The same, of a thread that the system does not give; names the limit.
[[noreturn]] void fail_for_thread() noexcept;

}  // namespace quire::openmp
