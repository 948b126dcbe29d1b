// SPDX-License-Identifier: BSD-3-Clause
// page_update_fetch: page fetches from node 0 by node 1, one at a time, in random order, for ParADE's Figure 10. Prints
// for each access the page, and when it began and ended (the clock of QUIRE_FAULT_TRACE, whose files tell what lay
// between).
#include <quire/quire.hpp>

#include <cinttypes>
#include <cstdio>
#include <vector>

#include "common/clock.hpp"
#include "common/job.hpp"
#include "common/order.hpp"
#include "common/program.hpp"

namespace {

struct settings {
  std::uint64_t pages = 2048;
  std::uint64_t rounds = 4;
};

struct fetched {
  std::size_t page;
  std::uint64_t began, ended;
};

void run(const settings& wanted) {
  const quire::session job;
  bench::expect_nodes(job, 2);
  const auto memory = quire::from_node(0, [&] {
    return quire::region::create(wanted.pages * bench::page_bytes, {.place = quire::placement::node, .home = 0});
  });
  const auto words = memory.span<volatile std::uint64_t>();
  constexpr std::size_t words_of_a_page = bench::page_bytes / sizeof(std::uint64_t);
  std::vector<fetched> all;
  all.reserve(wanted.pages * wanted.rounds);
  for (std::uint64_t round = 0; round <= wanted.rounds; ++round) {
    if (job.node() == 0) {
      for (std::size_t i = 0; i < wanted.pages; ++i) words[i * words_of_a_page] = round + i;
    }
    quire::barrier{}.arrive_and_wait();
    if (job.node() == 1) {
      for (const std::size_t i : bench::random_order(wanted.pages, static_cast<std::uint32_t>(round))) {
        const auto began = bench::now_ns();
        const std::uint64_t found = words[i * words_of_a_page];
        const auto ended = bench::now_ns();
        if (found != round + i) throw std::runtime_error("a page has an old content");
        if (round != 0) all.push_back({i, began, ended});  // the first makes frames
      }
    }
    quire::barrier{}.arrive_and_wait();
  }
  for (const auto& f : all) std::printf("%zu %" PRIu64 " %" PRIu64 "\n", f.page, f.began, f.ended);
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here("Page fetches with the times of each access. Start it as `quire run -n 2 page_update_fetch`.");
  here.add_number("--pages", wanted.pages, 1, 1 << 20, "pages of 4 KiB");
  here.add_number("--rounds", wanted.rounds, 1, 1000, "times that each is fetched");
  return here.run(argc, argv, [&] { run(wanted); });
}
