// SPDX-License-Identifier: BSD-3-Clause
// Contract: groups of minipages. Where units of a page are used together they come together; where nodes use different
// ones they stay apart; whatever comes along, content is right. What is no grouping is refused. The argument is one:
// none, page, adaptive.
#include <quire/minipages.hpp>
#include <quire/quire.hpp>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "apart.hpp"
#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096;

struct object {
  std::uint64_t words[32];
};

std::uint64_t faults() {
  quire_counters now{};
  now.size = sizeof now;
  REQUIRE_OK(quire_counters_read(&now));
  return now.read_faults + now.write_faults + now.upgrade_faults;
}

quire::minipage_array<object> shared_array(std::size_t n, quire::grouping how,
                                           quire::consistency consistency = quire::consistency::sequential) {
  return quire::from_node(0, [&] {
    return quire::minipage_array<object>::create(
        n, {.consistency = consistency, .place = quire::placement::node, .grouping = how});
  });
}

/// Node 0 writes all, the others read them in an order that is no sweep: how many faults in the last of several rounds.
std::uint64_t used_together(quire::grouping how) {
  constexpr std::size_t n = 16 * 8;
  const auto array = shared_array(n, how);
  std::uint64_t last = 0;
  for (std::uint64_t round = 1; round <= 6; ++round) {
    for (std::size_t i = 0; quire::node() == 0 && i < n; ++i) array[i].words[0] = round << 32 | i;
    barrier();
    const std::uint64_t before = faults();
    for (std::size_t k = 0; quire::node() != 0 && k < n; ++k) {
      const std::size_t i = k * 37 % n;
      REQUIRE(array[i].words[0] == (round << 32 | i));
    }
    last = faults() - before;
    barrier();
  }
  return last;
}

/// Each node writes objects of its own, which lie on a page with those of others: how many faults when all are where
/// they are used.
std::uint64_t used_apart(quire::grouping how) {
  const auto n = static_cast<std::size_t>(quire::nodes());
  const auto array = shared_array(8 * n, how);
  const auto write_own = [&](std::uint64_t round) {
    for (std::size_t i = static_cast<std::size_t>(quire::node()); i < array.size(); i += n) array[i].words[0] += round;
  };
  for (std::uint64_t round = 1; round <= 10; ++round) write_own(round);
  barrier();
  const std::uint64_t before = faults();
  for (std::uint64_t round = 11; round <= 1000; ++round) write_own(round);
  const std::uint64_t cost = faults() - before;
  barrier();
  for (std::size_t i = 0; i < array.size(); ++i) REQUIRE(array[i].words[0] == 1000 * 1001 / 2);
  barrier();
  return cost;
}

/// Counters that all nodes add to, one lock each, in an order that differs from node to node.
void used_by_all(quire::grouping how, quire::consistency consistency) {
  constexpr std::size_t n = 40;
  constexpr std::uint64_t rounds = 20;
  const auto array = shared_array(n, how, consistency);
  const auto locks = quire::from_node(0, [&] {
    const auto made = quire::make_shared_array<quire::mutex>(n);
    for (auto& m : made) m = quire::mutex::create();
    return made;
  });
  std::vector<quire::mutex> own(locks.begin(), locks.end());
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t i = (k * (quire::node() % 2 == 0 ? 1 : 7) + static_cast<std::size_t>(quire::node()) * 11) % n;
      const std::unique_lock lock(own[i]);
      for (auto& word : array[i].words) ++word;
    }
  }
  barrier();
  for (std::size_t i = 0; i < n; ++i)
    for (const std::uint64_t word : array[i].words)
      REQUIRE(word == rounds * static_cast<std::uint64_t>(quire::nodes()));
  barrier();
}

void heaps(quire::grouping how) {
  const auto heap =
      quire::from_node(0, [&] { return quire::minipage_heap::create(16 << 20, {.views = 16, .grouping = how}); });
  const auto all = quire::from_node(0, [&] {
    const auto made = quire::make_shared_array<object*>(50);
    for (auto& o : made) o = heap.make<object>();
    return made;
  });
  for (std::size_t i = static_cast<std::size_t>(quire::node()); i < all.size();
       i += static_cast<std::size_t>(quire::nodes()))
    all[i]->words[3] = i + 1;
  barrier();
  for (std::size_t i = 0; i < all.size(); ++i) REQUIRE(all[i]->words[3] == i + 1);
  barrier();
}

void bad_input() {
  quire_region r{};
  quire_region_options about{};
  about.size = sizeof about;
  about.minipage_bytes = 256;
  for (const int bad : {-1, 3, 1 << 30}) {
    about.grouping = static_cast<quire_grouping>(bad);
    REQUIRE(quire_region_create(&about, page, &r) == QUIRE_INVALID);
    REQUIRE(std::strstr(quire_last_error(), "quire_grouping") != nullptr);
  }
  about.minipage_bytes = 0;
  about.grouping = QUIRE_GROUP_ADAPTIVE;  // of pages
  REQUIRE(quire_region_create(&about, page, &r) == QUIRE_INVALID);
  REQUIRE(std::strstr(quire_last_error(), "minipages") != nullptr);
}

}  // namespace

int main(int, char** argv) {
  keep_nodes_apart();
  const std::string name = argv[1];
  const auto how = name == "none"   ? quire::grouping::none
                   : name == "page" ? quire::grouping::page
                                    : quire::grouping::adaptive;
  const quire::session job;
  const bool reads_ahead = std::getenv("QUIRE_READ_AHEAD") == nullptr;
  const std::uint64_t together = used_together(how), apart = used_apart(how);
  if (quire::node() != 0 && how != quire::grouping::none && reads_ahead)
    REQUIRE(together <= 16);  // a page each, and some that were left to be sure
  if (quire::node() != 0 && how == quire::grouping::none) REQUIRE(together >= 64);
  if (how != quire::grouping::page) REQUIRE(apart <= 4);
  for (const auto consistency : {quire::consistency::sequential, quire::consistency::release})
    used_by_all(how, consistency);
  heaps(how);
  bad_input();
  barrier();
  return 0;
}
