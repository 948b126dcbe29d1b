// SPDX-License-Identifier: BSD-3-Clause
// Short models of the five applications of Millipage's evaluation, for sim/timed: what each node reads, writes and
// locks, in which order, with pages or minipages as units; what they compute is but a time, in all that of the serial
// program. They follow apps/{water,lu,is,sor,tsp}. Left out: what neither faults nor synchronises; TSP's search itself,
// whose tasks have lengths drawn at random and whose best length never changes: it is the roughest one.
#pragma once

#include <cstdint>
#include <string>

#include "sim/timed/patterns.hpp"

namespace bench::multiview {

namespace timed = quire::timed;

/// What moves between nodes.
struct sharing {
  bool minipages = false;  ///< else pages, with as many elements as fit
  unsigned chunk = 1;      ///< elements in each
  bool composed = false;   ///< minipages, but what is read in turn comes by pages
};

struct workload {
  sharing how{};
  timed::time_ns serial_ns = 1'000'000'000;  ///< that the serial program computes
  std::uint64_t size = 0;                    ///< molecules, rows, columns of the matrix, values, tours to complete
  unsigned rounds = 10;                      ///< steps, iterations
};

/// The most molecules that a page holds; chunks of more than half a page have a page each.
inline constexpr unsigned molecules_a_page = 6;

[[nodiscard]] timed::pattern water(const workload& what, unsigned nodes);
[[nodiscard]] timed::pattern lu(const workload& what, unsigned nodes);
[[nodiscard]] timed::pattern is(const workload& what, unsigned nodes);
[[nodiscard]] timed::pattern sor(const workload& what, unsigned nodes);
[[nodiscard]] timed::pattern tsp(const workload& what, unsigned nodes);

// Of Table 1: each node's times are those of so many of one thing, by the last node.
inline constexpr unsigned repetitions = 16;
/// That node fetches units that node 0 has written, to read them, or to write them when `copies` other nodes have read
/// them (nodes - 2 at most).
[[nodiscard]] timed::pattern fetches(std::uint64_t bytes, bool write, unsigned copies);
[[nodiscard]] timed::pattern barriers();
/// It locks what node 0 has locked last.
[[nodiscard]] timed::pattern locks();

}  // namespace bench::multiview
