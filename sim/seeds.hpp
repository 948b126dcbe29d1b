// SPDX-License-Identifier: BSD-3-Clause
// Which seeds a randomised test runs: its own range, another one (QUIRE_SIM_FIRST, QUIRE_SIM_SOAK), as `make soak` asks
// for, or the one of QUIRE_SIM_SEED when a failure is replayed. Also what a broken CHECK inside a machine prints before
// the process ends: the run that was under way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quire::sim {

class network;

/// A test that fails where it does not find something rare needs all of its seeds.
enum class looks_for : std::uint8_t { mistakes, rare_outcomes };

/// `count` seeds from `first` on. Decimal numbers of the environment change that: QUIRE_SIM_SEED is the only one then;
/// QUIRE_SIM_FIRST is where they begin, and the range is printed ("seeds A to B"); with QUIRE_SIM_SOAK there are so
/// many times more, with QUIRE_SIM_PART as many times fewer, unless something rare is looked for, or SIM_SEEDS is
/// "all".
[[nodiscard]] std::vector<std::uint64_t> seeds(std::uint64_t first, std::uint64_t count,
                                               looks_for wanted = looks_for::mistakes);

/// Whether tests run their own seeds. Only of those is it known that they lead to what a test wants to have seen often
/// enough.
[[nodiscard]] bool usual_seeds();

/// While this lives, a failing CHECK prints the trace of `net`, seed included.
class print_on_check_failure {
 public:
  explicit print_on_check_failure(const network& net) noexcept;
  ~print_on_check_failure();
  print_on_check_failure(const print_on_check_failure&) = delete;
  print_on_check_failure& operator=(const print_on_check_failure&) = delete;
};

}  // namespace quire::sim
