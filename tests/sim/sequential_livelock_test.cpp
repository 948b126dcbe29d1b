// SPDX-License-Identifier: BSD-3-Clause
// Units that are stolen between a thread's wake-up and its next try. A thread that is always slower than a steal never gets
// on ("a possible livelock", Millipage, section 3.3); a node that keeps the unit for a while, once it was lost unused, ends
// that. Times are virtual: the threads here are slow on purpose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <iostream>

#include "sim/seeds.hpp"
#include "sim/simulation.hpp"

namespace quire::sim {
namespace {

constexpr time_ns slow_retry = 400'000;  // a woken thread's way back to its access; a steal takes at most 60 us

std::vector<script> everybody_writes(unsigned nodes, unsigned times) {
  std::vector<script> all;
  for (std::uint16_t n = 0; n < nodes; ++n) {
    script s{node_id{n}, {}};
    for (unsigned i = 0; i < times; ++i) {
      s.operations.push_back({operation_kind::read, 0, 0, 0});
      s.operations.push_back({operation_kind::write, 0, 0, std::uint64_t{n} << 32 | i});
    }
    all.push_back(std::move(s));
  }
  return all;
}

result slow_threads(std::uint64_t seed, unsigned nodes, bool hold_off, time_ns retry_least) {
  network_options net;
  net.seed = seed;
  net.nodes = nodes;
  cluster_options shape;
  shape.nodes = nodes;
  shape.units = 1;
  shape.hold_off = hold_off;
  timing times;
  times.think = 500;
  times.retry_least = retry_least;
  times.retry = slow_retry;
  simulation run(net, shape, times, everybody_writes(nodes, 5));
  return run.run();
}

TEST(sequential_livelock, without_hold_off_slow_threads_steal_from_each_other_for_ever) {
  const result r = slow_threads(1, 3, false, slow_retry);
  EXPECT_THAT(r.failure, testing::HasSubstr("livelock: thread"));
  EXPECT_THAT(r.failure, testing::HasSubstr("seed 1, 3 nodes"));
}

TEST(sequential_livelock, hold_off_bounds_the_faults_of_an_access) {
  // The hold doubles with each loss until the thread is through; a read that came first may have cost a fault before.
  const timing defaults;
  const auto most = static_cast<std::uint32_t>(2 + std::bit_width(slow_retry / defaults.hold));
  for (const unsigned nodes : {2u, 3u, 8u, 64u, 65u}) {
    statistics total;
    for (const std::uint64_t seed : seeds(1, 40)) {
      for (const time_ns least : {time_ns{0}, slow_retry}) {
        const result r = slow_threads(seed, nodes, true, least);
        ASSERT_EQ(r.failure, "") << "replay: QUIRE_SIM_SEED=" << seed;
        total += r.count;
      }
    }
    EXPECT_LE(total.most_faults, most) << nodes << " nodes";
    EXPECT_GT(total.holds, 0u);
    std::cout << nodes << " nodes: " << total.faults << " faults for " << total.operations << " accesses, at most "
              << total.most_faults << " of one, " << total.holds << " holds\n";
  }
}

TEST(sequential_livelock, hold_off_costs_nothing_where_nothing_is_lost) {
  // An order may follow a settled unit at once. With delays that are all alike it does not come in the same instant, and
  // the thread, which takes no time here, is first.
  for (const std::uint64_t seed : seeds(1, 40)) {
    network_options net;
    net.seed = seed;
    net.nodes = 3;
    net.min_delay = net.max_delay;
    cluster_options shape;
    shape.units = 1;
    timing times;
    times.retry = 0;
    simulation run(net, shape, times, everybody_writes(3, 20));
    const result r = run.run();
    ASSERT_EQ(r.failure, "") << "replay: QUIRE_SIM_SEED=" << seed;
    EXPECT_GT(r.count.faults, 3u) << "they take it from each other";
    EXPECT_EQ(r.count.losses, 0u);
    EXPECT_EQ(r.count.holds, 0u);
  }
}

}  // namespace
}  // namespace quire::sim
