// SPDX-License-Identifier: BSD-3-Clause
// quire_sync: barriers, a mutex that moves from node to node, and atomic additions on a word that node 0 owns; the last
// node tells. Start it on two nodes or more. With two nodes each of the three needs one message and its answer. With
// more a mutex that comes to the last node has its home at node 0, and was last locked by a third node: three messages.
#include <quire/quire.hpp>

#include "common/job.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

bool tells() { return quire::node() == quire::nodes() - 1; }

void measure_barrier(std::uint64_t count) {
  bench::samples times("barrier", "us");
  for (std::uint64_t i = 0; i < count; ++i) times.time([] { quire::barrier{}.arrive_and_wait(); });
  if (tells()) times.print();
}

/// The nodes take turns, so that another node was always the last to have it; only locking and unlocking is measured.
void measure_lock(int node, std::uint64_t count) {
  auto mutex = quire::from_node(0, quire::mutex::create);
  bench::samples times("lock_unlock", "us");
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i % static_cast<std::uint64_t>(quire::nodes()) == static_cast<std::uint64_t>(node))
      times.time([&] {
        mutex.lock();
        mutex.unlock();
      });
    quire::barrier{}.arrive_and_wait();
  }
  if (tells()) times.print();
  quire::barrier{}.arrive_and_wait();
  if (node == 0) mutex.destroy();
}

void measure_atomic(int node, std::uint64_t count) {
  const auto words = quire::from_node(0, [] { return quire::make_shared_array<std::uint64_t>(1); });
  if (node == 0) words[0] = 0;
  quire::barrier{}.arrive_and_wait();
  if (tells()) {
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
  bench::expect_nodes_or_more(job, 2);
  measure_barrier(count);
  measure_lock(job.node(), count);
  measure_atomic(job.node(), count);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t count = 10000;
  bench::program here(
      "Barriers, locks and atomic operations. Start it as `quire run -n 2 quire_sync`, or on more nodes.");
  here.add_number("--count", count, 10, 10'000'000, "how many of each");
  return here.run(argc, argv, [&] { run(count); });
}
