// SPDX-License-Identifier: BSD-3-Clause
// quire_release: what release consistency costs. Start it on two nodes or more, with QUIRE_MOVE_HOMES=0; all pages have
// their home on node 0. Nodes beyond the second meet the others, and write in phases. In microseconds:
//
//   write N     node 1 writes a word in each of N pages of which it has copies: faults and twins
//   barrier N   the job barrier after that: diffs, applied at the home, and notices
//   release N   a semaphore's release after such writes, until all diffs are at the home
//   acquire N   a semaphore's acquisition by node 1, after node 0 has written N pages of which node 1 has copies
//   floor N     the least that must be done for N pages: a twin copied, compared, its diff applied
//   phase       all nodes write neighbouring words of one page many times, then a barrier; sequential, release
//   moved       and how often the page moved in a phase
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>

#include <quire/quire.hpp>

#include "common/job.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"
#include "diff/diff.hpp"

namespace {

constexpr std::size_t page = 4096, page_words = page / sizeof(std::uint64_t);
using words = std::span<std::uint64_t>;

words make_pages(std::size_t pages, quire::consistency how) {
  return quire::from_node(0, [&] {
    return quire::region::create(std::max<std::size_t>(pages, 1) * page,
                                 {.consistency = how, .place = quire::placement::node, .home = 0})
        .span<std::uint64_t>();
  });
}
void meet() { quire::barrier{}.arrive_and_wait(); }
std::string named(const char* what, std::size_t n) { return std::string(what) + "_" + std::to_string(n); }

void write_all(words all, std::size_t pages, std::uint64_t value) {
  for (std::size_t p = 0; p < pages; ++p) static_cast<volatile std::uint64_t&>(all[p * page_words + 9]) = value;
}
void read_all(words all, std::size_t pages) {
  std::uint64_t sum = 0;
  for (std::size_t p = 0; p < pages; ++p) sum += static_cast<volatile std::uint64_t&>(all[p * page_words]);
  if (sum == 1) throw std::runtime_error("a page that was never written has content");
}

void measure_barrier(int node, std::size_t pages, std::uint64_t rounds) {
  const auto all = make_pages(pages, quire::consistency::release);
  bench::samples write(named("write", pages), "us"), barrier(named("barrier", pages), "us");
  meet();
  if (node == 1) read_all(all, pages);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    meet();
    if (node == 1) {
      write.time([&] { write_all(all, pages, round); });
      barrier.time(meet);
    } else {
      meet();
    }
  }
  if (node == 1) {
    if (pages != 0) write.print();
    barrier.print();
  }
}

void measure_release(int node, std::size_t pages, std::uint64_t rounds) {
  const auto all = make_pages(pages, quire::consistency::release);
  auto signal = quire::from_node(0, [] { return quire::counting_semaphore::create(0); });
  bench::samples release(named("release", pages), "us");
  meet();
  if (node == 1) read_all(all, pages);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    meet();
    if (node == 0) {
      signal.acquire();
    } else if (node == 1) {
      write_all(all, pages, round);
      release.time([&] { signal.release(); });
    }
  }
  meet();
  if (node == 1) release.print();
  if (node == 0) signal.destroy();
}

void measure_acquire(int node, std::size_t pages, std::uint64_t rounds) {
  const auto all = make_pages(pages, quire::consistency::release);
  auto signal = quire::from_node(1, [] { return quire::counting_semaphore::create(0); });
  bench::samples acquire(named("acquire", pages), "us");
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    meet();
    if (node == 1) read_all(all, pages);
    meet();
    if (node == 0) {
      write_all(all, pages, round);
      signal.release();
    } else if (node == 1) {
      ::usleep(static_cast<useconds_t>(2000 + pages * 10));  // what was told has arrived
      acquire.time([&] { signal.acquire(); });
    }
  }
  meet();
  if (node == 1) acquire.print();
  if (node == 1) signal.destroy();
}

void measure_floor(std::size_t pages, std::uint64_t rounds) {
  const auto content = std::make_unique<std::byte[]>(pages * page), twins = std::make_unique<std::byte[]>(pages * page);
  const auto home = std::make_unique<std::byte[]>(pages * page);
  std::array<std::byte, quire::diff::worst_bytes(page)> encoded{};
  const quire::diff::codec codec;
  bench::samples floor(named("floor", pages), "us");
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    floor.time([&] {
      for (std::size_t p = 0; p < pages; ++p) {
        std::byte* const at = content.get() + p * page;
        std::memcpy(twins.get() + p * page, at, page);
        std::memcpy(at + 72, &round, sizeof round);
        const auto made = codec.encode({at, page}, twins.get() + p * page, encoded, quire::diff::writers::several);
        (void)codec.apply(std::span(encoded).first(made.bytes), {home.get() + p * page, page});
      }
    });
  }
  floor.print();
}

void measure_phases(int node, quire::consistency how, const char* name, std::uint64_t rounds) {
  constexpr std::uint64_t writes = 2'000'000;  // long enough for all nodes to be at it together
  const auto all = make_pages(1, how);
  bench::samples phase(std::string("phase_") + name, "us"), moved(std::string("moved_") + name, "times");
  auto& mine = static_cast<volatile std::uint64_t&>(all[static_cast<std::size_t>(node)]);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    mine = round;
    meet();
    mine = round;  // from here on the copy is here, unless the protocol takes it away
    meet();
    mine = round;
    const auto before = quire::counters();
    phase.time([&] {
      for (std::uint64_t i = 0; i < writes; ++i) mine = i;
    });
    const auto after = quire::counters();
    moved.add(static_cast<double>(after.read_faults + after.write_faults + after.upgrade_faults - before.read_faults -
                                  before.write_faults - before.upgrade_faults));
    meet();
  }
  if (node == 1) {
    phase.print();
    moved.print();
  }
}

void run(std::uint64_t rounds) {
  const quire::session job;
  bench::expect_nodes_or_more(job, 2);
  for (const std::size_t pages : {0, 100, 1000, 10000})
    measure_barrier(job.node(), pages, pages > 1000 ? rounds / 4 + 1 : rounds);
  for (const std::size_t pages : {0, 1000}) {
    measure_release(job.node(), pages, rounds);
    measure_acquire(job.node(), pages, rounds);
  }
  if (job.node() == 1) {
    for (const std::size_t pages : {100, 1000, 10000}) measure_floor(pages, rounds);
  }
  meet();
  measure_phases(job.node(), quire::consistency::release, "release", rounds);
  measure_phases(job.node(), quire::consistency::sequential, "sequential", rounds);
  meet();
}

}  // namespace

int main(int argc, char** argv) {
  bench::program program(
      "What release consistency costs two nodes or more; start it with `quire run -n 2 --set move_homes=0`.");
  std::uint64_t rounds = 40;
  program.add_number("--rounds", rounds, 1, 100000, "of every measurement");
  return program.run(argc, argv, [&] { run(rounds); });
}
