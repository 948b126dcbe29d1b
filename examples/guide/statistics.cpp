// SPDX-License-Identifier: BSD-3-Clause
// The counters of a phase, of docs/guide/statistics.md: quire run -n 2 --stats guide/statistics
#include <cstddef>
#include <cstdio>
#include <numeric>

#include <quire/quire.hpp>

int main() {
  quire::session job;
  constexpr std::size_t count = 100'000;
  auto values = quire::from_node(0, [] { return quire::make_shared_array<double>(count); });
  if (job.node() == 0) std::iota(values.begin(), values.end(), 0.0);
  quire::barrier{}.arrive_and_wait();
  // [phase]
  const quire_counters before = quire::counters();
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const quire_counters after = quire::counters();
  std::printf("node %d: %llu read faults, %llu units read ahead\n", job.node(),
              static_cast<unsigned long long>(after.read_faults - before.read_faults),
              static_cast<unsigned long long>(after.read_ahead_units - before.read_ahead_units));
  // [/phase]
  // Node 0 has written the values; every other node has to fetch them.
  const bool faulted = after.read_faults > before.read_faults;
  return sum == 0.5 * (count - 1) * count && faulted == (job.node() != 0) ? 0 : 1;
}
