// SPDX-License-Identifier: BSD-3-Clause
// What nodes know together of gfortran's run-time library, which each node has for itself (posix/fortran).
#pragma once

#include <cstdint>

namespace quire::program {

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

}  // namespace quire::program
