// SPDX-License-Identifier: BSD-3-Clause
// What tests say of an exploration.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "explorer.hpp"
#include "sim/seeds.hpp"

namespace quire::program::steps {

/// All states were looked at, and nothing is wrong.
inline void expect_well(const exploration& e) {
  EXPECT_EQ(e.failure, "");
  EXPECT_TRUE(e.complete) << "more than " << e.states << " states";
  std::printf("%llu states, %llu steps, %llu ends, %zu steps deep\n", static_cast<unsigned long long>(e.states),
              static_cast<unsigned long long>(e.steps), static_cast<unsigned long long>(e.ends), e.deepest);
}
/// A mistake that was put in is found, as one of this kind.
inline void expect_found(const exploration& e, const std::string& what) {
  EXPECT_NE(e.failure.find(what), std::string::npos) << e.failure;
}

inline void expect_well_at_random(const factory& make, std::uint64_t seeds) {
  for (const std::uint64_t seed : sim::seeds(1, seeds))
    ASSERT_EQ(run_at_random(make, seed), "") << "replay: QUIRE_SIM_SEED=" << seed;
}

}  // namespace quire::program::steps
