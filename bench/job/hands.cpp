// SPDX-License-Identifier: BSD-3-Clause
// quire_hands: memory that changes hands. Start it on two nodes or more.
//
//   sweep       a node reads all that another one has written: what fetching it costs, the base of all others
//   turns       nodes write all of it in turn, each checking first what the one before has written
//   slabs       each node writes its own slab in two phases, and its part of every slab in the third (alternating
//               directions): MB/s of all bytes written in the third
//   record      a record of a page goes round under a lock: each node reads and writes it (us)
//
// And what a unit of each costs in messages, bytes and faults.
#include <quire/quire.hpp>

#include <algorithm>
#include <cstring>

#include "common/job.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"
#include "common/traffic.hpp"

namespace {

struct settings {
  std::uint64_t mebibytes = 64;
  std::uint64_t rounds = 8;
  std::string consistency = "release", only = "all";
};

constexpr std::size_t page_bytes = 4096, page_words = page_bytes / sizeof(std::uint64_t);
using words = std::span<std::uint64_t>;

void meet() { quire::barrier{}.arrive_and_wait(); }

words make(std::size_t bytes, const std::string& consistency) {
  const auto how = consistency == "release" ? quire::consistency::release : quire::consistency::sequential;
  return quire::from_node(0, [&] { return quire::region::create(bytes, {.consistency = how}); })
      .span<std::uint64_t>()
      .first(bytes / sizeof(std::uint64_t));
}

double mb_s(std::size_t bytes, std::uint64_t start) {
  return static_cast<double>(bytes) / static_cast<double>(bench::now_ns() - start) * 1000;
}

void expect(std::uint64_t is, std::uint64_t wanted) {
  if (is != wanted) throw std::runtime_error("a word is " + std::to_string(is) + " and not " + std::to_string(wanted));
}

/// All words, one after the other, are `before`, and become `now`.
void rewrite(words part, std::uint64_t before, std::uint64_t now) {
  for (std::uint64_t& word : part) {
    expect(word, before);
    word = now;
  }
}

void read_sweep(const quire::session& job, const settings& wanted) {
  const words all = make(wanted.mebibytes << 20, "sequential");  // a home that is relaxed sends what it has written
  bench::samples sweep("sweep", "MB/s");
  for (std::uint64_t round = 1; round <= wanted.rounds + 2; ++round) {
    if (job.node() == 0) std::ranges::fill(all, round);
    meet();
    const auto start = bench::now_ns();
    if (job.node() == 1) {
      std::uint64_t sum = 0;
      for (const std::uint64_t word : all) sum += word;
      expect(sum, round * all.size());
      if (round > 2) sweep.add(mb_s(all.size_bytes(), start));
    }
    meet();
  }
  if (job.node() == 1) sweep.print();
}

void turns(const quire::session& job, const settings& wanted) {
  const words all = make(wanted.mebibytes << 20, wanted.consistency);
  const auto nodes = static_cast<std::uint64_t>(job.nodes());
  bench::samples rate("turns", "MB/s");
  const auto phase = [&](std::uint64_t round, bool counts) {
    meet();
    const auto start = bench::now_ns();
    if (round % nodes == static_cast<std::uint64_t>(job.node())) rewrite(all, round, round + 1);
    meet();
    if (counts && job.node() == 0) rate.add(mb_s(all.size_bytes(), start));
  };
  std::uint64_t round = 0;
  for (; round < 4 * nodes; ++round) phase(round, false);
  const bench::traffic seen;
  for (const std::uint64_t end = round + wanted.rounds * nodes; round < end; ++round) phase(round, true);
  if (job.node() == 0) rate.print();
  seen.print("turns", static_cast<double>(wanted.rounds * nodes * (all.size_bytes() / page_bytes)));
}

void slabs(const quire::session& job, const settings& wanted) {
  const words all = make(wanted.mebibytes << 20, wanted.consistency);
  const auto nodes = static_cast<std::size_t>(job.nodes()), self = static_cast<std::size_t>(job.node());
  constexpr std::size_t planes = 32;
  const std::size_t plane = all.size() / planes, part = plane / nodes / page_words * page_words;
  bench::samples third("slabs", "MB/s");
  std::uint64_t value = 0;
  const auto iterate = [&](bool counts) {
    for (int phase = 0; phase < 2; ++phase, ++value) {
      for (std::size_t p = planes * self / nodes; p < planes * (self + 1) / nodes; ++p)
        rewrite(all.subspan(p * plane, part * nodes), value, value + 1);
      meet();
    }
    const auto start = bench::now_ns();
    for (std::size_t p = 0; p < planes; ++p) rewrite(all.subspan(p * plane + self * part, part), value, value + 1);
    ++value;
    meet();
    if (counts && self == 0) third.add(mb_s(planes * part * nodes * sizeof(std::uint64_t), start));
  };
  for (int i = 0; i < 4; ++i) iterate(false);
  const bench::traffic seen;
  for (std::uint64_t i = 0; i < wanted.rounds; ++i) iterate(true);
  if (self == 0) third.print();
  seen.print("slabs", static_cast<double>(wanted.rounds * (all.size_bytes() / page_bytes)));
}

void record(const quire::session& job, const settings& wanted) {
  const words one = make(page_bytes, wanted.consistency);
  const auto lock = quire::from_node(0, [] { return quire::mutex::create(); });
  const std::uint64_t count = wanted.rounds * 500;
  bench::samples each("record", "us");
  meet();
  const bench::traffic seen;
  const auto start = bench::now_ns();
  for (std::uint64_t i = 0; i < count; ++i) {
    quire::mutex mine = lock;
    mine.lock();
    const std::uint64_t was = one[0];
    for (std::size_t word = 1; word < 64; ++word) expect(one[word], was);
    for (std::size_t word = 0; word < 64; ++word) one[word] = was + 1;
    mine.unlock();
  }
  meet();
  expect(one[0], count * static_cast<std::uint64_t>(job.nodes()));
  each.add(static_cast<double>(bench::now_ns() - start) / 1000 / static_cast<double>(count) / job.nodes());
  if (job.node() == 0) each.print();
  seen.print("record", static_cast<double>(count) * job.nodes());
}

void run(const settings& wanted) {
  const quire::session job;
  bench::expect_nodes_or_more(job, 2);
  const auto is_wanted = [&](const char* name) { return wanted.only == "all" || wanted.only == name; };
  if (is_wanted("sweep")) read_sweep(job, wanted);
  if (is_wanted("turns")) turns(job, wanted);
  if (is_wanted("slabs")) slabs(job, wanted);
  if (is_wanted("record")) record(job, wanted);
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("Memory that changes hands. Start it as `quire run -n 2 quire_hands`.");
  here.add_number("--mebibytes", wanted.mebibytes, 1, 1 << 12, "memory that nodes write");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "of each, after those that warm up");
  here.add_choice("--consistency", wanted.consistency, {"sequential", "release"}, "of the memory");
  here.add_choice("--only", wanted.only, {"all", "sweep", "turns", "slabs", "record"}, "what is measured");
  return here.run(argc, argv, [&] { run(wanted); });
}
