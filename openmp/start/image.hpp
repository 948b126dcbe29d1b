// SPDX-License-Identifier: BSD-3-Clause
// The program's static data on all nodes.
#pragma once

namespace quire::openmp {

/// Collective: ends the node that has other modules than node 0, or has them elsewhere.
void compare_modules();
/// Collective: the static data of the program and of its own libraries, but for what is read-only after relocation, is
/// shared from now on, as node 0 has it.
void share_static_data();
/// Whether an address lies in static data that is shared. In any context.
[[nodiscard]] bool in_static_data(const void* at) noexcept;
/// Not any more: the job ends.
void close_static_data() noexcept;
/// What was set to start the program with this library, and is none of its business: children shall not have it.
void restore_environment();

}  // namespace quire::openmp
