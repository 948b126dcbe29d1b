// SPDX-License-Identifier: BSD-3-Clause
// gfortran's run-time library, which each node has for itself: its units, and what main() tells it.
#pragma once

#include <cstdint>

namespace quire::program {

/// A node that is not node 0, before its first region: the same for its own libgfortran. Its threads have the traps of
/// the one that calls.
void repeat_fortran_settings() noexcept;

/// The node whose libgfortran has a unit, for a statement of `caller`, a return address; `here`. `opens`: of OPEN.
[[nodiscard]] int node_of_unit(std::int32_t unit, bool opens, const void* caller) noexcept;
/// This node's libgfortran has opened a unit, or closed it.
void note_owner(std::int32_t unit) noexcept;
/// Fortran's units of this node write what they hold back. In an input or output statement of the caller nothing
/// happens.
void flush_units() noexcept;

}  // namespace quire::program
