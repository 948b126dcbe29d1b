// SPDX-License-Identifier: BSD-3-Clause
// A start, barriers, a sum and an end of ten thousand nodes: what each needs must not grow with how many there are.
// More than a job of processes may have (base::most_nodes): synchronisation has no such limit, the sequential protocol
// counts acknowledgements in 10 bits (model::max_nodes).
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "sync_world.hpp"

namespace quire::sync::many_nodes_test {
namespace {

constexpr unsigned nodes = 10'000, barriers = 3;
using op = operation;

/// Memory of this process that is in use, in bytes.
std::size_t resident() {
  std::size_t all = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> all >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

struct progress {
  unsigned arrived[barriers + 2] = {};
};

/// What quire_start(), a program and quire_end() do with all nodes together.
program be_node(world& w, progress& p, unsigned n) {
  for (unsigned round = 0; round < barriers + 2; ++round) {
    co_await w.pause(100'000);
    ++p.arrived[round];
    const auto passed = co_await w.call(n, make_call(op::barrier_wait, 0));
    EXPECT_EQ(passed.status, QUIRE_OK);
    EXPECT_EQ(p.arrived[round], nodes) << "node " << n << " passed round " << round << " before all had come";
  }
  const std::int64_t mine = n;
  call sum = make_call(op::reduce_i64, 0);
  sum.count = 1;
  sum.values = value(std::as_bytes(std::span(&mine, 1)));
  const auto all = co_await w.call(n, sum);
  std::int64_t total = 0;
  if (!all.values.empty()) std::memcpy(&total, all.values.bytes().data(), sizeof total);
  EXPECT_EQ(total, std::int64_t{nodes} * (nodes - 1) / 2);
  w.leave();
}

TEST(many_nodes, start_run_barriers_and_end) {
  for (const std::uint64_t seed : {1u, 2u}) {
    const std::size_t before = resident();  // with what a sanitizer keeps of the world before
    world w(seed, nodes, order::any);
    progress p;
    for (unsigned n = 0; n < nodes; ++n) be_node(w, p, n);
    w.run(nodes);
    const std::size_t used = resident() - before;
    std::printf("seed %u: %.0f bytes a node, %lu messages\n", static_cast<unsigned>(seed),
                static_cast<double>(used) / nodes, static_cast<unsigned long>(w.net().messages()));
    EXPECT_EQ(w.net().messages(), 2ul * (nodes - 1) * (barriers + 3));  // up a tree and down
    EXPECT_LT(used, std::size_t{256} << 20);
  }
}

}  // namespace
}  // namespace quire::sync::many_nodes_test
