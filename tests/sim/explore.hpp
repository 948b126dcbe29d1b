// SPDX-License-Identifier: BSD-3-Clause
// Exploration of small programs (sim/bare/sequential_explorer.hpp) as tests write it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "breakages.hpp"
#include "sim/bare/sequential_explorer.hpp"

namespace quire::sim {

/// A checker that finds something fails the test, as do fewer states than the program is known to lead to.
inline void explore(const cluster_options& shape, std::vector<script> scripts, std::uint64_t at_least) {
  const auto start = std::chrono::steady_clock::now();
  explorer x(shape, std::move(scripts), 20'000'000);
  const exploration found = x.run();
  EXPECT_EQ(found.failure, "");
  EXPECT_GE(found.states, at_least) << "the program no longer leads to what it was written for";
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::cout << found.states << " states, " << found.steps << " steps, " << found.ends << " ends, longest path "
            << found.deepest << ", " << took.count() << " s\n";
}

/// What the checkers say first of a program in which something is broken, in any order of what happens; empty if they
/// see nothing.
inline std::string verdict(const cluster_options& shape, const std::vector<script>& program,
                           const cluster::tampering& broken) {
  explorer x(shape, program);
  x.nodes().set_tampering(broken);
  return x.run().failure;
}

/// Without hold-off nodes may steal from each other in cycles: an end must be within reach all the same.
inline cluster_options plain() {
  cluster_options o;
  o.words = 1;
  o.hold_off = false;
  return o;
}

/// `deaths` of the nodes `mortal` die. Unit u is managed by node u.
inline cluster_options dying(std::initializer_list<node_id> mortal, unsigned units, unsigned deaths) {
  cluster_options o = plain();
  o.units = units;
  o.placement = model::placement::modulo;
  o.learns = false;
  o.deaths = deaths;
  for (const node_id n : mortal) o.mortal |= std::uint64_t{1} << n.value();
  return o;
}

inline operation set(std::uint32_t unit, std::uint64_t value) { return {operation_kind::write, unit, 0, value}; }
inline operation get(std::uint32_t unit) { return {operation_kind::read, unit}; }

}  // namespace quire::sim
