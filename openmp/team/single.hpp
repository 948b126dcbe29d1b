// SPDX-License-Identifier: BSD-3-Clause
// `single`: the first thread that comes does the work. A program may have others go on meanwhile (nowait), and rely on that they have something to do
// before they need what the first one leaves.
#pragma once

namespace quire::openmp {

/// Whether the caller does the work of the `single` to which it has come. A thread that is the first of its node, in a team of several nodes, asks
/// by one operation on shared memory; all others know without a message.
[[nodiscard]] bool is_first_at_single() noexcept;

}  // namespace quire::openmp
