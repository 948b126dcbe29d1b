// SPDX-License-Identifier: BSD-3-Clause
// `single`: the first thread that comes does the work. A program may have others go on meanwhile (nowait), and rely on
// that they have something to do before they need what the first one leaves.
#pragma once

namespace quire::program {

/// Whether the caller does the work of the `single` to which it has come. In a team of several nodes, a thread asks by
/// one operation on shared memory unless another one of its node has the answer already.
[[nodiscard]] bool is_first_at_single() noexcept;

}  // namespace quire::program
