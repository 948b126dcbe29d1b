// SPDX-License-Identifier: BSD-3-Clause
// Contract of quire_region_set_consistency_by(): one thread of each node changes a region's consistency to and fro,
// while others write it and meet in barriers of the job.
#include <quire/system.h>

#include <atomic>
#include <thread>

#include "node.hpp"

using namespace quire::test;

namespace {

using word = std::uint64_t;
constexpr std::size_t count = 8'000;
constexpr int rounds = 100;

/// Every node writes every so-many-th word, so that all write on every page; then all read all of it.
void use(volatile word* words) {
  const auto nodes = static_cast<std::size_t>(quire_nodes()), me = static_cast<std::size_t>(quire_node());
  for (int round = 1; round <= rounds; ++round) {
    for (std::size_t i = me; i < count; i += nodes) words[i] = i * 1000 + static_cast<word>(round);
    barrier();
    for (std::size_t i = 0; i < count; ++i) REQUIRE_EQUAL(words[i], i * 1000 + static_cast<word>(round));
    barrier();
  }
}

/// As often as node 0 is not done with its rounds; whether it is the members hear from each other.
int change(quire_group group, quire_region region, const std::atomic<bool>& done) {
  REQUIRE_OK(quire_group_join(group, 0));
  int changes = 0;
  for (;; ++changes) {
    std::int64_t over = done.load() ? 1 : 0;
    REQUIRE_OK(quire_group_reduce_i64(group, &over, 1, QUIRE_MIN));
    if (over != 0) break;
    sleep_ms(2);  // what is asked for without a pause may be taken away, each time, before a thread has used it
    REQUIRE_OK(quire_region_set_consistency_by(group, region, changes % 2 == 0 ? QUIRE_SEQUENTIAL : QUIRE_RELEASE));
  }
  REQUIRE_OK(quire_group_leave(group));
  return changes;
}

void refuse(quire_region region) {
  REQUIRE_EQUAL(quire_region_set_consistency_by({0}, region, QUIRE_SEQUENTIAL), QUIRE_INVALID);
  quire_group two{};
  REQUIRE_OK(quire_group_create(2, &two));
  REQUIRE_EQUAL(quire_region_set_consistency_by(two, region, QUIRE_SEQUENTIAL), QUIRE_INVALID);
  quire_group one{};
  REQUIRE_OK(quire_group_create(1, &one));
  REQUIRE_EQUAL(quire_region_set_consistency_by(one, region, QUIRE_SEQUENTIAL), QUIRE_INVALID);  // no member
  barrier();
}

}  // namespace

int main() {
  REQUIRE_OK(quire_start(nullptr));
  quire_region_options how{};
  how.size = sizeof how;
  how.consistency = QUIRE_RELEASE;
  how.placement = QUIRE_PLACE_FIRST_TOUCH;
  how.orders = 1;
  volatile word* const words = shared_region<word>("words", count * sizeof(word), how);
  quire_region region{};
  REQUIRE_OK(quire_region_of(const_cast<const word*>(words), &region));
  barrier();
  refuse(region);
  quire_group group{};
  REQUIRE_OK(quire_group_create(1, &group));
  std::atomic<bool> done{false};
  int changes = 0;
  std::thread changer([&] { changes = change(group, region, done); });
  use(words);
  done.store(true);
  changer.join();
  REQUIRE_EQUAL(changes > 2 || quire_nodes() == 1, true);
  barrier();
  REQUIRE_OK(quire_end());
  return 0;
}
