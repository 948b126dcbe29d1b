// SPDX-License-Identifier: BSD-3-Clause
// False sharing, of docs/guide/statistics.md: quire run -n 2 --stats=sharing guide/false_sharing
#include <cstdint>
#include <cstdio>

#include <quire/quire.hpp>

int main() {
  quire::session job;
  // [tallies]
  auto tallies = quire::from_node(0, [&] { return quire::make_shared_array<std::uint64_t>(static_cast<std::size_t>(job.nodes())); });
  for (int step = 0; step < 100; ++step) {
    ++tallies[static_cast<std::size_t>(job.node())];  // each node has its own, and all of them lie on one unit
    quire::barrier{}.arrive_and_wait();
  }
  // [/tallies]
  if (job.node() == 0) std::printf("node 0 counted %d\n", static_cast<int>(tallies[0]));
  return tallies[static_cast<std::size_t>(job.node())] == 100 ? 0 : 1;
}
