// SPDX-License-Identifier: BSD-3-Clause
// quire_host_frames: what it costs the nodes of a host to read the same memory, in time and in frames. Node 0 writes
// it; the others read it one after the other, the first half in random order, fault by fault (first_read), then in
// order; node 0 writes all of it anew, and node 1 sweeps over it (sweep). At the end all nodes have it, and tell the
// frames that they have mapped, each counted once (frames_mb: the sum of Pss_Shmem in /proc/self/smaps_rollup, less
// what it was before). Where nodes have the frames of their host there is one of a page; with QUIRE_HOST_FRAMES=0 one a
// node.
#include <quire/quire.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "common/job.hpp"
#include "common/order.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

struct settings {
  std::uint64_t mebibytes = 256;
  std::uint64_t rounds = 3;
  std::uint64_t faults = 4096;
  std::string consistency = "sequential";
};

constexpr std::size_t words_per_page = bench::page_bytes / sizeof(std::uint64_t);

/// Frames that this node has mapped, in KiB; those that several processes have are divided among them.
std::int64_t frames_kib() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::string name;
  for (std::int64_t value = 0; file >> name;) {
    if (name == "Pss_Shmem:" && file >> value) return value;
  }
  throw std::runtime_error("/proc/self/smaps_rollup does not tell Pss_Shmem");
}

std::int64_t frames_of_all() {
  std::int64_t sum = frames_kib();
  quire::barrier{}.arrive_and_wait();
  if (quire_reduce_i64(&sum, 1, QUIRE_SUM) != QUIRE_OK) throw std::runtime_error("the nodes cannot add up");
  return sum;
}

void read_all(std::span<const std::uint64_t> words, std::uint64_t value) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words.size(); i += words_per_page) sum += words[i];
  if (sum != value * (words.size() / words_per_page)) throw std::runtime_error("the memory has an old content");
}

void read_faults(std::span<const std::uint64_t> words, std::uint64_t most, bench::samples& found) {
  auto pages = bench::random_order(words.size() / words_per_page);
  pages.resize(std::min<std::size_t>(pages.size(), most));
  for (const std::size_t page : pages) {
    found.time([&] {
      if (const_cast<const volatile std::uint64_t&>(words[page * words_per_page]) != 1)
        throw std::runtime_error("the memory has an old content");
    });
  }
}

void run(const settings& wanted) {
  const quire::session job;
  bench::expect_nodes_or_more(job, 2);
  const std::size_t bytes = wanted.mebibytes << 20;
  const auto how = wanted.consistency == "release" ? quire::consistency::release : quire::consistency::sequential;
  const auto memory = quire::from_node(0, [&] {
    return quire::region::create(bytes, {.consistency = how, .place = quire::placement::node, .home = 0});
  });
  const auto words = memory.span<std::uint64_t>().first(bytes / sizeof(std::uint64_t));
  const std::int64_t before = frames_of_all();
  bench::samples first("first_read", "us"), sweep("sweep", "MB/s"), frames("frames", "MB");
  if (job.node() == 0) std::fill(words.begin(), words.end(), 1);
  for (int reader = 1; reader < job.nodes(); ++reader) {
    quire::barrier{}.arrive_and_wait();
    if (job.node() != reader) continue;
    read_faults(words.first(words.size() / 2), wanted.faults, first);
    read_all(words, 1);
  }
  quire::barrier{}.arrive_and_wait();
  frames.add(static_cast<double>(frames_of_all() - before) * 1024 / 1e6);
  for (std::uint64_t round = 2; round < wanted.rounds + 2; ++round) {
    quire::barrier{}.arrive_and_wait();
    if (job.node() == 0) std::fill(words.begin(), words.end(), round);
    quire::barrier{}.arrive_and_wait();
    if (job.node() != 1) continue;
    const auto start = bench::now_ns();
    read_all(words, round);
    sweep.add(static_cast<double>(bytes) / static_cast<double>(bench::now_ns() - start) * 1000);
  }
  quire::barrier{}.arrive_and_wait();
  if (job.node() != 1) return;
  first.print();
  sweep.print();
  frames.print();
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("Nodes of a host read the same memory. Start it as `quire run -n 8 quire_host_frames`.");
  here.add_number("--mebibytes", wanted.mebibytes, 1, 1 << 14, "memory to read");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "sweeps over what was written anew");
  here.add_number("--faults", wanted.faults, 1, 1 << 20, "single read faults of each node, at most");
  here.add_choice("--consistency", wanted.consistency, {"sequential", "release"}, "of the memory");
  return here.run(argc, argv, [&] { run(wanted); });
}
