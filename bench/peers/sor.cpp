// SPDX-License-Identifier: BSD-3-Clause
// SOR on another shared memory system: apps/sor/sor.cpp with its kernel, its blocks of rows and its barriers, on one of
// the bodies of system.h. A block's home is the node that computes it; the rows at its border come from the neighbour
// by page faults. Built by build_apps.sh.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <vector>

#include "common/bits.hpp"
#include "common/partition.hpp"
#include "common/report.hpp"
#include "peers/worker.hpp"
#include "sor/kernel.hpp"
#include "sor/settings.hpp"

namespace {

/// The sum of a number of each node. Halves, as doubles hold 53 bits.
std::uint64_t sum_over_nodes(peers::node_worker& me, std::uint64_t mine) {
  const auto [high, low] = me.sum(std::array{static_cast<double>(mine >> 32), static_cast<double>(mine & 0xffffffff)});
  return (static_cast<std::uint64_t>(high) << 32) + static_cast<std::uint64_t>(low);
}

}  // namespace

int main(int argc, char** argv) try {
  const auto wanted = sor::parse(system_arguments(argc, argv), argv, system_name());
  const std::size_t row_bytes = wanted.row_bytes();
  system_start(argc, argv, wanted.size * row_bytes);
  peers::node_worker me;
  const std::size_t nodes = me.count();
  const auto rows_of = [&](std::size_t node) { return apps::block_of_rows(node, nodes, wanted.size, row_bytes); };
  std::vector<std::size_t> begin(nodes + 1);
  for (std::size_t node = 0; node < nodes; ++node) begin[node + 1] = rows_of(node).end * row_bytes;
  const sor::grid grid = wanted.of(peers::allocate_blocks<double>(begin));

  const auto mine = rows_of(me.number());
  auto result = sor::begin_report(wanted, system_name());
  peers::run(
      result, [&] { sor::initialise_rows(grid, mine); },
      [&] {
        for (int iteration = 0; iteration < wanted.iterations; ++iteration)
          for (unsigned colour : {0u, 1u}) {
            sor::relax_rows(grid, mine, colour);
            me.wait();
          }
      });
  result.checksum = sum_over_nodes(me, apps::checksum({grid.row(mine.begin), (mine.end - mine.begin) * grid.columns}));
  int status = 0;
  if (me.number() == 0) {
    if (wanted.check) result.matches = sor::equals_serial(wanted, grid);
    status = apps::print(result, wanted.json);
  }
  system_barrier();
  system_end();
  return status;
} catch (const std::exception& e) {
  std::fprintf(stderr, "sor: %s\n", e.what());
  return 1;
}
