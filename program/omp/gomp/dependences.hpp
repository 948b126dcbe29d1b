// SPDX-License-Identifier: BSD-3-Clause
// What gcc passes of a task's dependences.
#pragma once

#include <cstdint>
#include <vector>

#include "program/omp/tasks/task.hpp"

namespace quire::program {

using dependence_list = std::vector<dependence, private_allocator<dependence>>;

/// `array`, as gcc since 9 lays it out: 0, how many addresses, then how many are out or inout, mutexinoutset, in; the
/// rest are dependence objects. Older: how many, how many of them are out. Then the addresses.
[[nodiscard]] dependence_list dependences_of(void** array);

}  // namespace quire::program
