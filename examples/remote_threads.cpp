// SPDX-License-Identifier: BSD-3-Clause
// The programming model of Millipage: the program is one, node 0 starts threads on the other nodes, hands them shared
// memory, and collects their results. The other nodes serve until the session ends.
// Run it: quire run -n 2 remote_threads
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

#include <quire/quire.hpp>

namespace {

/// What a thread is to do; larger than a pointer, so it travels through shared memory by itself.
struct task {
  std::span<double> part;
  double first;
};

double fill_and_sum(task t) {
  std::iota(t.part.begin(), t.part.end(), t.first);
  return std::accumulate(t.part.begin(), t.part.end(), 0.0);
}

}  // namespace

int main() {
  quire::session job;
  if (job.node() != 0) return 0;

  constexpr std::size_t per_node = 10000;
  const auto nodes = static_cast<std::size_t>(job.nodes());
  const auto numbers = quire::make_shared_array<double>(per_node * nodes);
  std::vector<quire::thread> threads;
  for (std::size_t n = 0; n < nodes; ++n) {
    const task work{numbers.subspan(n * per_node, per_node), static_cast<double>(n * per_node)};
    threads.emplace_back(
        static_cast<int>(n), [](task t) { return fill_and_sum(t); }, work);
  }
  double sum = 0;
  for (quire::thread& thread : threads) sum += thread.join<double>();

  const auto count = static_cast<double>(numbers.size());
  const double expected = count * (count - 1) / 2;
  const double here = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  std::printf("the threads summed %.0f, node 0 reads %.0f, expected %.0f\n", sum, here, expected);
  quire::free_shared_array(numbers);
  return sum == expected && here == expected ? 0 : 1;
}
