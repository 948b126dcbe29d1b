// SPDX-License-Identifier: BSD-3-Clause
// Statements of Fortran that a thread is in: what libgfortran allocates meanwhile is its unit's, and of the node.
#pragma once

namespace quire::program {

/// At the start: is_for_unit() knows libgfortran.
void find_units_library() noexcept;
/// Whether a call from libgfortran is about one of its units, not for the program: the caller's thread is in an input
/// or output statement.
[[nodiscard]] bool is_for_unit(const void* caller) noexcept;

/// The calling thread is in a statement of this node's libgfortran: what that allocates is the unit's.
void begin_unit_use() noexcept;
void end_unit_use() noexcept;
class unit_use {
 public:
  unit_use() noexcept { begin_unit_use(); }
  unit_use(const unit_use&) = delete;
  unit_use& operator=(const unit_use&) = delete;
  ~unit_use() { end_unit_use(); }
};

/// Whether the process has libgfortran, and whether the calling thread is in a statement of it.
[[nodiscard]] bool has_units_library() noexcept;
[[nodiscard]] bool is_in_unit_statement() noexcept;

}  // namespace quire::program
