// SPDX-License-Identifier: BSD-3-Clause
// Contract: the atomic page update. One node writes a number into all words of a page, upwards, then the next number;
// the threads of the other nodes read the same pages, downwards, all the time, so that they fault on pages that are
// just being replaced for another thread of theirs. A word that is read later was written earlier, so it is never
// smaller than the one read before it, and no word is ever smaller than it was.
#include "apart.hpp"
#include "node.hpp"

using namespace quire::test;

namespace {

void hammer(std::size_t unit_bytes) {
  constexpr std::size_t units = 6;
  constexpr int readers = 4;
  constexpr double seconds = 0.8;
  const std::size_t words = unit_bytes / sizeof(std::uint64_t);
  const std::string name = "update " + std::to_string(unit_bytes);
  auto* const all =
      shared_region<std::uint64_t>(name, units * unit_bytes, region_options(unit_bytes, QUIRE_PLACE_MODULO));
  barrier();
  const double end = now_seconds() + seconds;
  const auto word = [](std::uint64_t& w) { return std::atomic_ref<std::uint64_t>(w); };
  if (quire_node() == 0) {
    std::uint64_t version = 0;
    for (; now_seconds() < end || version < 20; ++version) {
      auto* const page = all + version % units * words;
      for (std::size_t i = 0; i < words; ++i) word(page[i]).store(version, std::memory_order_relaxed);
    }
  } else {
    const auto before = counters();
    on_threads(readers, [&](int reader) {
      std::uint64_t newest[units] = {};  // of the word that is read first
      for (std::size_t unit = static_cast<std::size_t>(reader); now_seconds() < end; ++unit) {
        auto* const page = all + unit % units * words;
        std::uint64_t last = newest[unit % units];
        for (std::size_t i = words; i-- > 0;) {
          const std::uint64_t found = word(page[i]).load(std::memory_order_acquire);
          REQUIRE(found >= last);
          last = found;
          if (i == words - 1) newest[unit % units] = found;
        }
      }
    });
    REQUIRE(counters().read_faults > before.read_faults + 10);
  }
  barrier();
}

}  // namespace

int main() {
  keep_nodes_apart();
  return node_main([] {
    section("units of 4K", [] { hammer(4096); });
    section("units of 64K", [] { hammer(65536); });
  });
}
