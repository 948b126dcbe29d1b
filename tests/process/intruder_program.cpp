// SPDX-License-Identifier: BSD-3-Clause
// A job that strangers are let loose on: intruder_program SECONDS [FILE]: so long, and until there is FILE. Nodes count
// under a lock and pass pages around, check both, and tell at the end what they have refused.
#include <algorithm>
#include <atomic>
#include <filesystem>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::uint64_t words = 64 * 1024;

struct world {
  quire_mutex mutex;
  std::uint64_t count, expected;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const double seconds = std::atof(argv[1]);
  return node_main([&] {
    auto& w = *shared_object<world>("world");
    auto* const pages = shared_region<std::uint64_t>("pages", words * 8, region_options(4096, QUIRE_PLACE_MODULO));
    if (quire_node() == 0) REQUIRE_OK(quire_mutex_create(&w.mutex));
    barrier();
    std::printf("node %d is %d\n", quire_node(), static_cast<int>(::getpid()));
    const auto nodes = static_cast<std::uint64_t>(quire_nodes()), self = static_cast<std::uint64_t>(quire_node());
    const double until = now_seconds() + seconds;
    std::uint64_t mine = 0;
    for (std::uint64_t round = 1;; ++round) {
      // Each node writes its stripe of every page, and reads that of its neighbour from the round before.
      for (std::uint64_t i = self; i < words; i += nodes * 61) pages[i] = round * 1'000 + i;
      barrier();
      const std::uint64_t other = (self + 1) % nodes;
      for (std::uint64_t i = other; i < words; i += nodes * 61) REQUIRE_EQUAL(pages[i], round * 1'000 + i);
      REQUIRE_OK(quire_mutex_lock(w.mutex));
      w.count = w.count + 1;
      ++mine;
      REQUIRE_OK(quire_mutex_unlock(w.mutex));
      std::int64_t go_on = now_seconds() < until || (argc > 2 && !std::filesystem::exists(argv[2])) ? 1 : 0;
      REQUIRE_OK(quire_reduce_i64(&go_on, 1, QUIRE_MAX));
      if (go_on == 0) break;
    }
    std::uint64_t before;
    REQUIRE_OK(quire_fetch_add(&w.expected, mine, &before));
    barrier();
    REQUIRE_EQUAL(w.count, w.expected);
    const quire_counters c = counters();
    std::printf("node %d refused %" PRIu64 " connections and %" PRIu64 " messages\n", quire_node(),
                c.connections_refused, c.messages_refused);
  });
}
