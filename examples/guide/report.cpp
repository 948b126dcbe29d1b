// SPDX-License-Identifier: BSD-3-Clause
// A report with names, of docs/guide/reports.md: quire run -n 2 --report report.html guide/report
#include <cstdint>
#include <cstdio>

#include <quire/quire.hpp>
#include <quire/report.hpp>

int main() {
  quire::session job;
  const auto me = static_cast<std::size_t>(job.node());
  // [names]
  auto tallies = quire::from_node(0, [&] {
    auto made = quire::make_shared_array<std::uint64_t>(static_cast<std::size_t>(job.nodes()));
    quire::label(made, "tallies");
    return made;
  });
  {
    const quire::phase counting("count");
    for (int step = 0; step < 100; ++step) {
      ++tallies[me];  // each node has its own, and all of them lie on one unit
      quire::barrier{}.arrive_and_wait();
    }
  }
  // [/names]
  if (job.node() == 0) std::printf("node 0 counted %d\n", static_cast<int>(tallies[0]));
  return tallies[me] == 100 ? 0 : 1;
}
