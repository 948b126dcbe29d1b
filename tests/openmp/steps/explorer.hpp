// SPDX-License-Identifier: BSD-3-Clause
// All orders of the steps of a small program, each state once; or one order by chance. A state in which nobody can go
// on while some have not ended is a failure, and so is a state from which no end can be reached, and a run that is too
// long.
//
// Threads cannot be copied: to come back to a state its steps are made again from the beginning.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "world.hpp"

namespace quire::program::steps {

struct exploration {
  std::string failure{};  ///< empty: all is well. Else what is wrong, and the steps that lead to it.
  std::uint64_t states = 0, steps = 0, runs = 0, ends = 0;
  std::size_t deepest = 0;
  bool complete = false;  ///< there were no more states than `most_states`
};

/// Makes the program anew; its words belong to the world that there is then.
using factory = std::function<std::unique_ptr<program>()>;

struct limits {
  std::uint64_t most_states = 20'000'000;
  std::size_t most_steps = 200'000;  ///< of one run
};

[[nodiscard]] exploration explore(const factory& make, const limits& most = {});
/// What is wrong; empty: nothing.
[[nodiscard]] std::string run_at_random(const factory& make, std::uint64_t seed, const limits& most = {});

}  // namespace quire::program::steps
