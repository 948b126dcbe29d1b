// SPDX-License-Identifier: BSD-3-Clause
// gfortran's run-time library, which each node has for itself: its units, and what main() tells it.
#pragma once

#include <cstdint>

namespace quire::openmp {

/// What main() of a Fortran program has told libgfortran, on node 0, before anything else. Shared.
struct fortran_settings {
  static constexpr std::uint32_t most = 16;
  struct call {
    std::uint32_t function = 0;  ///< a row of the table in settings.cpp
    std::int32_t number = 0;
    void* array = nullptr;
  } calls[most];
  std::uint32_t count = 0;
};

/// Which node has opened a unit last, + 1; 0: none. Units 0 and 6 are of all nodes until a node opens one as a file, or
/// closes it; 5 is of node 0 until then. Those without a row, from 1,000 on and those that libgfortran numbers (below
/// 0), are of node 0. Shared.
struct fortran_units {
  static constexpr std::int32_t most = 1000;
  std::uint32_t owner[most] = {};
};

/// A node that is not node 0, before its first region: the same for its own libgfortran. Its threads have the traps of
/// the one that calls.
void repeat_fortran_settings() noexcept;

/// At the start: is_for_unit() knows libgfortran.
void find_units_library() noexcept;
/// Whether a call from libgfortran is about one of its units, not for the program: the caller's thread is in an input
/// or output statement.
[[nodiscard]] bool is_for_unit(const void* caller) noexcept;

/// The node whose libgfortran has a unit, for a statement of `caller`, a return address; `here`. `opens`: of OPEN.
[[nodiscard]] int node_of_unit(std::int32_t unit, bool opens, const void* caller) noexcept;
/// This node's libgfortran has opened a unit, or closed it.
void note_owner(std::int32_t unit) noexcept;
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

/// Fortran's units of this node write what they hold back. In an input or output statement of the caller nothing
/// happens.
void flush_units() noexcept;

}  // namespace quire::openmp
