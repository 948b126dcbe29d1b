// SPDX-License-Identifier: BSD-3-Clause
// quire_sweep: how fast a node reads in order through memory that is homed and was written elsewhere. Start it on two
// nodes. Node 0 writes, node 1 reads: the first time into frames that were never used (sweep_first), then again and
// again after node 0 has rewritten everything (sweep).
#include <quire/quire.hpp>

#include <algorithm>

#include "common/job.hpp"
#include "common/order.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

struct settings {
  std::uint64_t mebibytes = 256;
  std::uint64_t rounds = 3;
  std::string read = "page";
};

constexpr std::size_t words_per_page = bench::page_bytes / sizeof(std::uint64_t);

void write_all(std::span<std::uint64_t> words, std::uint64_t value) { std::fill(words.begin(), words.end(), value); }

/// Reads a word of each page, or every word; the sum proves what was read.
void read_all(std::span<const std::uint64_t> words, bool all, std::uint64_t value) {
  const std::size_t step = all ? 1 : words_per_page;
  std::uint64_t sum = 0;
  if (all) {
    for (const std::uint64_t word : words) sum += word;
  } else {
    for (std::size_t i = 0; i < words.size(); i += step) sum += words[i];
  }
  if (sum != value * (words.size() / step)) throw std::runtime_error("the memory has an old content");
}

void run(const settings& wanted) {
  const quire::session job;
  bench::expect_nodes(job, 2);
  const std::size_t bytes = wanted.mebibytes << 20;
  const auto memory =
      quire::from_node(0, [&] { return quire::region::create(bytes, {.place = quire::placement::node, .home = 0}); });
  const auto words = memory.span<std::uint64_t>().first(bytes / sizeof(std::uint64_t));
  bench::samples first("sweep_first", "MB/s"), warm("sweep", "MB/s");
  for (std::uint64_t round = 0; round <= wanted.rounds; ++round) {
    const std::uint64_t value = round + 1;
    if (job.node() == 0) write_all(words, value);
    quire::barrier{}.arrive_and_wait();
    if (job.node() == 1) {
      const auto start = bench::now_ns();
      read_all(words, wanted.read == "all", value);
      (round == 0 ? first : warm).add(static_cast<double>(bytes) / static_cast<double>(bench::now_ns() - start) * 1000);
    }
    quire::barrier{}.arrive_and_wait();
  }
  if (job.node() == 1) {
    first.print();
    warm.print();
  }
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("A sequential sweep through remote memory. Start it as `quire run -n 2 quire_sweep`.");
  here.add_number("--mebibytes", wanted.mebibytes, 1, 1 << 14, "memory to read");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "sweeps after the first");
  here.add_choice("--read", wanted.read, {"page", "all"}, "a word of each page, or all words");
  return here.run(argc, argv, [&] { run(wanted); });
}
