// SPDX-License-Identifier: BSD-3-Clause
// What stands behind Quire's calls of mappings may be an allocator's, which makes the system call by syscall(2), and so
// comes to Quire again: that is no call of the program.
#pragma once

#include <utility>

namespace quire::program {

inline thread_local constinit bool t_maps_next = false;

template <class Call>
auto map_next(const Call& call) noexcept {
  const bool before = std::exchange(t_maps_next, true);
  const auto result = call();
  t_maps_next = before;
  return result;
}

}  // namespace quire::program
