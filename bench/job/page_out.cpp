// SPDX-License-Identifier: BSD-3-Clause
// quire_page_out: what a page costs that memory has no room for. One word of each page of some memory is counted up,
// over and over, in order and at random, on node 0. Start it with QUIRE_MEMORY_LIMIT less than that: on one node pages
// go to the page-out file and come back; on several, others have room for them. Without a limit: what remains is the
// sweep itself.
#include <quire/quire.hpp>

#include "common/job.hpp"
#include "common/order.hpp"
#include "common/program.hpp"
#include "common/samples.hpp"

namespace {

struct settings {
  std::uint64_t bytes = 48u << 20;
  std::uint64_t passes = 4;
};

constexpr std::size_t step = bench::page_bytes / sizeof(std::uint64_t);

/// Microseconds a page, for each pass but the first, which makes the pages.
template <class Order>
void sweep(const char* name, std::span<std::uint64_t> words, const settings& wanted, std::uint64_t before,
           Order&& page_at) {
  const std::size_t pages = words.size() / step;
  bench::samples times(name, "us");
  for (std::uint64_t pass = 0; pass < wanted.passes; ++pass) {
    const std::uint64_t start = bench::now_ns();
    for (std::size_t i = 0; i < pages; ++i) {
      auto& word = static_cast<volatile std::uint64_t&>(words[page_at(i) * step]);
      if (word != before + pass) throw std::runtime_error("wrong content");
      word = before + pass + 1;
    }
    if (pass != 0) times.add(static_cast<double>(bench::now_ns() - start) / 1000 / static_cast<double>(pages));
  }
  times.print();
}

void run(const settings& wanted) {
  const quire::session job;
  const auto memory = quire::from_node(
      0, [&] { return quire::region::create(wanted.bytes, {.place = quire::placement::node, .home = 0}); });
  if (job.node() == 0) {
    const auto words = memory.span<std::uint64_t>();
    sweep("page_out_in_order", words, wanted, 0, [](std::size_t i) { return i; });
    const auto order = bench::random_order(words.size() / step);
    sweep("page_out_at_random", words, wanted, wanted.passes, [&](std::size_t i) { return order[i]; });
  }
  quire::barrier{}.arrive_and_wait();
}

}  // namespace

int main(int argc, char** argv) {
  settings wanted;
  bench::program here(
      "Pages that memory has no room for. Start it as `quire run -n 1 --memory-limit 16M quire_page_out`.");
  here.add_size("--bytes", wanted.bytes, "of memory that is swept");
  here.add_number("--passes", wanted.passes, 2, 1000, "over it, each way");
  return here.run(argc, argv, [&] { run(wanted); });
}
