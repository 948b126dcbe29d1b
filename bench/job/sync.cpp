// SPDX-License-Identifier: BSD-3-Clause
// quire_sync: barriers, a mutex that moves between two nodes, and atomic additions on a word that the other node owns.
// Start it on two nodes. With two nodes each of the three needs one message and its answer.
#include <quire/quire.hpp>

#include "common/job.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

void measure_barrier(int node, std::uint64_t count) {
  bench::samples times("barrier", "us");
  for (std::uint64_t i = 0; i < count; ++i) times.time([] { quire::barrier{}.arrive_and_wait(); });
  if (node == 1) times.print();
}

/// The nodes take turns, so that the other node was always the last to have it; only locking and unlocking is measured.
void measure_lock(int node, std::uint64_t count) {
  auto mutex = quire::from_node(0, quire::mutex::create);
  bench::samples times("lock_unlock", "us");
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i % 2 == static_cast<std::uint64_t>(node))
      times.time([&] {
        mutex.lock();
        mutex.unlock();
      });
    quire::barrier{}.arrive_and_wait();
  }
  if (node == 1) times.print();
  quire::barrier{}.arrive_and_wait();
  if (node == 0) mutex.destroy();
}

void measure_atomic(int node, std::uint64_t count) {
  const auto words = quire::from_node(0, [] { return quire::make_shared_array<std::uint64_t>(1); });
  if (node == 0) words[0] = 0;
  quire::barrier{}.arrive_and_wait();
  if (node == 1) {
    bench::samples times("atomic", "us");
    const quire::atomic_ref word(words[0]);
    for (std::uint64_t i = 0; i < count; ++i) times.time([&] { word.fetch_add(1); });
    times.print();
  }
  quire::barrier{}.arrive_and_wait();
  if (node == 0) {
    if (words[0] != count) throw std::runtime_error("atomic additions were lost");
    quire::free_shared_array(words);
  }
}

void run(std::uint64_t count) {
  const quire::session job;
  bench::expect_nodes(job, 2);
  measure_barrier(job.node(), count);
  measure_lock(job.node(), count);
  measure_atomic(job.node(), count);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t count = 10000;
  bench::program here("Barriers, locks and atomic operations. Start it as `quire run -n 2 quire_sync`.");
  here.add_number("--count", count, 10, 10'000'000, "how many of each");
  return here.run(argc, argv, [&] { run(count); });
}
