// SPDX-License-Identifier: BSD-3-Clause
// Deaths at every message of jobs with services: each seed is run once whole, and then again for each of its messages
// and each node, which dies there.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sim/seeds.hpp"

namespace quire::services::test {

/// `make(seed)`: a job, with run(), which says what was wrong, and around(), its world. `ended`: told of each job in
/// which a node died.
template <class Make, class Ended>
void bear_a_death_at_every_message(std::uint64_t seeds, unsigned nodes, const Make& make, const Ended& ended) {
  for (const std::uint64_t seed : sim::seeds(1, seeds)) {
    auto whole = make(seed);
    ASSERT_EQ(whole->run(), "") << "replay: QUIRE_SIM_SEED=" << seed;
    for (unsigned victim = 0; victim < nodes; ++victim) {
      for (std::uint64_t at = 1; at <= whole->around().messages(); ++at) {
        auto j = make(seed);
        j->around().kill_at(at, victim);
        ASSERT_EQ(j->run(), "") << "node " << victim << " dies at message " << at
                                << "; replay: QUIRE_SIM_SEED=" << seed;
        ended(*j);
      }
    }
  }
}

}  // namespace quire::services::test
