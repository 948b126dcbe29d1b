// SPDX-License-Identifier: BSD-3-Clause
// quire_free: what it costs to give back memory, of the node's own and of the other node's. Start it on two nodes. Node
// 0 allocates, node 1 frees, and the time runs until node 0 has all of it free again.
#include <quire/quire.hpp>

#include <vector>

#include "common/job.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

void measure(int node, std::uint64_t rounds, std::uint64_t count) {
  const auto blocks = quire::from_node(0, [&] { return quire::make_shared_array<void*>(count); });
  bench::samples here("malloc_free_here", "us"), there("free_there", "us");
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (node == 0) {
      const std::uint64_t start = bench::now_ns();
      for (auto& block : blocks) quire::detail::check(quire_malloc(64, &block), "malloc");
      for (auto* block : blocks) quire::detail::check(quire_free(block), "free");
      here.add(static_cast<double>(bench::now_ns() - start) / 1000 / static_cast<double>(count));
      for (auto& block : blocks) quire::detail::check(quire_malloc(64, &block), "malloc");
    }
    quire::barrier{}.arrive_and_wait();
    if (node == 1) {
      const std::vector<void*> copy(blocks.begin(), blocks.end());
      const std::uint64_t start = bench::now_ns();
      for (auto* block : copy) quire::detail::check(quire_free(block), "free");
      std::size_t bytes = 0;  // asked of the owner, behind all that was sent to it
      if (quire_allocation_size(copy.back(), &bytes) != QUIRE_BAD_ADDRESS)
        throw std::runtime_error("the memory is still allocated");
      there.add(static_cast<double>(bench::now_ns() - start) / 1000 / static_cast<double>(count));
    }
    quire::barrier{}.arrive_and_wait();
  }
  if (node == 0) here.print();
  if (node == 1) there.print();
}

}  // namespace

int main(int argc, char** argv) {
  // A multiple of the batch, so that nothing is left for the barrier.
  std::uint64_t rounds = 20, batches = 40;
  bench::program here("Frees of another node's memory. Start it as `quire run -n 2 quire_free_speed`.");
  here.add_number("--rounds", rounds, 1, 100'000, "how often");
  here.add_number("--batches", batches, 1, 10'000, "blocks a round, in batches of 62");
  return here.run(argc, argv, [&] {
    const quire::session job;
    bench::expect_nodes(job, 2);
    measure(job.node(), rounds, batches * 62);
  });
}
