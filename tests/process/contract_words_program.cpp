// SPDX-License-Identifier: BSD-3-Clause
// Contract: a word of 8 bytes is never seen in parts, under either consistency, wherever its node is. A thread of each
// node counts in words of its own, which lie beside those of other nodes, without a pause; others read all of them. A
// number that is partly the new one and partly the old one is smaller than one seen before: after 0x1ff comes 0x200,
// and their mixtures are 0x100 and 0x2ff.
#include <atomic>
#include <thread>

#include "node.hpp"

using namespace quire::test;

namespace {

double seconds = 0.5;  // of each section
constexpr std::size_t units = 3, columns = 4;

/// Content of this size leaves in several messages of UCX, some of them later.
constexpr std::size_t large = 65536;

void count(const char* name, quire_consistency consistency, std::size_t unit_bytes, std::uint64_t step) {
  auto about = region_options(unit_bytes, QUIRE_PLACE_NODE, 0);
  about.consistency = consistency;
  volatile std::uint64_t* const all = shared_region<std::uint64_t>(name, units * unit_bytes, about);
  const std::size_t words = unit_bytes / sizeof(std::uint64_t);
  const auto nodes = static_cast<std::size_t>(quire_nodes()), me = static_cast<std::size_t>(quire_node());
  const auto word = [&](std::size_t unit, std::size_t column, std::size_t node) -> volatile std::uint64_t& {
    return all[unit * words + column * nodes + node];
  };
  barrier();
  std::atomic<bool> stop{false};
  std::thread counts([&] {
    for (std::uint64_t i = 1; !stop; ++i) {
      for (std::size_t unit = 0; unit < units; ++unit) {
        for (std::size_t column = 0; column < columns; ++column) word(unit, column, me) = i * step;
      }
    }
  });
  std::thread reads([&] {
    std::vector<std::uint64_t> seen(units * columns * nodes);
    while (!stop) {
      for (std::size_t i = 0; i < seen.size(); ++i) {
        const std::size_t unit = i / (columns * nodes), column = i / nodes % columns, node = i % nodes;
        const std::uint64_t found = word(unit, column, node);
        if (found < seen[i] || found % step != 0) {
          std::fprintf(stderr, "%s: node %zu read 0x%lx, and before that 0x%lx, in word %zu of node %zu, unit %zu\n",
                       name, me, found, seen[i], column, node, unit);
          fail(__FILE__, __LINE__, "a word was seen in parts");
        }
        seen[i] = found;
      }
      std::this_thread::yield();
    }
  });
  const double end = now_seconds() + seconds;
  for (int more = 1; more != 0;) {
    more = now_seconds() < end ? 1 : 0;
    REQUIRE_OK(quire_broadcast(&more, sizeof more, 0));
    barrier();
  }
  stop = true;
  counts.join();
  reads.join();
  barrier();
}

}  // namespace

/// contract_words_program [SECONDS]: of each section.
int main(int argc, char** argv) {
  if (argc > 1) seconds = std::atof(argv[1]);
  REQUIRE_OK(quire_start(nullptr));
  section("release", [] { count("words", QUIRE_RELEASE, 4096, 1); });
  section("release, large steps", [] { count("large words", QUIRE_RELEASE, 4096, 0x1'0001'0001); });
  section("release, units of 64K", [] { count("words 64K", QUIRE_RELEASE, large, 0x1'0001'0001); });
  section("sequential", [] { count("strong words", QUIRE_SEQUENTIAL, 4096, 1); });
  REQUIRE_OK(quire_end());
  return 0;
}
