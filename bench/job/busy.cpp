// SPDX-License-Identifier: BSD-3-Clause
// quire_busy: what a read fault costs while the program of the page's home computes and never calls Quire. Start it on
// two nodes. Node 0 writes the pages and computes; node 1 reads them in random order meanwhile, with a pause before
// each.
#include <quire/quire.hpp>

#include <chrono>
#include <thread>

#include "common/job.hpp"
#include "common/order.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

struct settings {
  double seconds = 1;
  std::uint64_t pause_us = 200;
};

std::uint64_t compute_until(std::uint64_t end_ns) {
  std::uint64_t state = 88172645463325252u;
  while (bench::now_ns() < end_ns) {
    for (int i = 0; i < 10000; ++i) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
    }
  }
  return state;
}

void read_until(std::uint64_t end_ns, std::span<const std::uint64_t> words, std::uint64_t pause_us) {
  constexpr std::size_t step = bench::page_bytes / sizeof(std::uint64_t);
  bench::samples times("busy_read_fault", "us");
  for (const std::size_t page : bench::random_order(words.size() / step)) {
    if (bench::now_ns() >= end_ns) break;
    std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
    times.time([&] {
      if (static_cast<const volatile std::uint64_t&>(words[page * step]) != page + 1)
        throw std::runtime_error("wrong content");
    });
  }
  times.print();
}

void run(const settings& wanted) {
  const quire::session job;
  bench::expect_nodes(job, 2);
  constexpr std::size_t pages = 8192, step = bench::page_bytes / sizeof(std::uint64_t);
  const auto memory = quire::from_node(0, [&] {
    return quire::region::create(pages * bench::page_bytes, {.place = quire::placement::node, .home = 0});
  });
  const auto words = memory.span<std::uint64_t>().first(pages * step);
  if (job.node() == 0)
    for (std::size_t page = 0; page < pages; ++page) words[page * step] = page + 1;
  quire::barrier{}.arrive_and_wait();

  const auto whole = static_cast<std::uint64_t>(wanted.seconds * 1e9);
  if (job.node() == 0) {
    const volatile std::uint64_t kept = compute_until(bench::now_ns() + whole);
    (void)kept;
  } else {
    read_until(bench::now_ns() + whole * 9 / 10, words, wanted.pause_us);  // ends while the other still computes
  }
  quire::barrier{}.arrive_and_wait();
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("Read faults while the home computes. Start it as `quire run -n 2 quire_busy`.");
  here.add_seconds("--seconds", wanted.seconds, "how long to compute");
  here.add_number("--pause", wanted.pause_us, 0, 1'000'000, "microseconds before each read");
  return here.run(argc, argv, [&] { run(wanted); });
}
