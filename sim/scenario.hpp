// SPDX-License-Identifier: BSD-3-Clause
// A whole run from one number: which network, placement, program and timing a seed stands for. What fails under a seed in a
// test fails under it again (QUIRE_SIM_SEED), as long as this file stays as it is.
#pragma once

#include <algorithm>

#include "sim/simulation.hpp"
#include "sim/workload.hpp"

namespace quire::sim {

struct scenario {
  network_options net{};
  cluster_options shape{};
  timing times{};
  workload work{};
};

/// `operations`: about how many all threads together do, at least two each.
[[nodiscard]] inline scenario make_scenario(std::uint64_t seed, unsigned nodes, unsigned operations) {
  random draw(mix(seed) ^ nodes);
  scenario s;
  s.net.seed = seed;
  s.net.nodes = s.shape.nodes = nodes;
  s.net.straggler_percent = draw.chance(30) ? 5 : 0;
  s.net.min_delay = draw.chance(20) ? 0 : 2'000;
  s.shape.units = static_cast<unsigned>(draw.between(1, 6));
  s.shape.placement = static_cast<model::placement>(draw.below(3));
  s.shape.fixed = node_id{static_cast<std::uint16_t>(draw.below(nodes))};
  s.shape.hold_off = draw.chance(50);
  s.times.retry = draw.chance(30) ? 60'000 : 3'000;
  s.times.think = draw.chance(50) ? 500 : 20'000;
  s.work.kind = static_cast<pattern>(draw.below(static_cast<std::uint64_t>(pattern::count)));
  s.work.threads_per_node = nodes > 64 ? 1 : static_cast<unsigned>(draw.between(1, 3));
  // With hold-off an access gets through after a few losses. Only a push may wake a thread for nothing more often: one that waits
  // to write, while its node has asked for reading.
  const bool pushes = s.work.kind == pattern::uniform || s.work.kind == pattern::producer || s.work.kind == pattern::locking;
  if (s.shape.hold_off && !pushes) s.shape.fault_limit = 8;
  s.work.operations = std::max(2u, operations / (nodes * s.work.threads_per_node));
  return s;
}

[[nodiscard]] inline std::vector<script> make_scripts(const scenario& s) {
  random draw(mix(s.net.seed + 1));
  return make_scripts(s.work, s.shape, draw);
}

}  // namespace quire::sim
