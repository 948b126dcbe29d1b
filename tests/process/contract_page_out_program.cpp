// SPDX-License-Identifier: BSD-3-Clause
// Contract of page-out (QUIRE_MEMORY_LIMIT): shared data that is larger than what a node may have in memory stays as it
// is, and the counters say where it went: copies were given up, other nodes took what they had room for, the rest went
// to a file. By the word on the command line:
//   nodes    one node writes more than its limit, and less than all nodes' together
//   homes    the same under release consistency
//   copies   all nodes read more than their limit, over and over
//   disk     more than all limits together, under sequential and release consistency
//   mixed    threads write, read, pin and operate at random, regions change their consistency and have parallel blocks
//   unequal  node 0 has no limit, and would give the homes of units to nodes that have given their copies up
//   full     as disk, where the file cannot be written: more memory is taken instead, and nothing is lost
//   slow     one write to the file takes half a second (QUIRE_FAIL): the node serves others meanwhile
#include <algorithm>
#include <atomic>
#include <chrono>
#include <string_view>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096;
constexpr std::uint64_t MiB = 1 << 20;
using word = std::uint64_t;
constexpr std::size_t words_per_page = page / sizeof(word);

std::uint64_t g_limit = 0;

int nodes() { return quire_nodes(); }
int me() { return quire_node(); }

word* make_region(const char* name, std::uint64_t bytes, quire_placement placement, quire_consistency consistency,
                  std::size_t unit = page) {
  auto about = region_options(unit, placement);
  about.consistency = consistency;
  auto* words = shared_region<word>(name, bytes, about);
  barrier();
  return words;
}

/// What word `i` holds in a round.
word value_of(std::uint64_t i, word round) { return mix(i + round * 1'000'003); }
void fill(volatile word* at, std::uint64_t first, std::uint64_t end, word round) {
  for (std::uint64_t i = first; i < end; ++i) at[i] = value_of(i, round);
}
void verify(const volatile word* at, std::uint64_t first, std::uint64_t end, word round) {
  for (std::uint64_t i = first; i < end; ++i) REQUIRE_EQUAL(at[i], value_of(i, round));
}

/// More than the limit is in memory only for a moment: what is on its way, and a step of what leaves.
void require_limit_kept() {
  const std::uint64_t most = counters().most_memory;
  if (most > g_limit * 2) fail(__FILE__, __LINE__, "%" PRIu64 " KiB were in memory", most >> 10);
}

/// Threads need several units at a time.
void units_too_large() {
  if (me() == 0) {
    const auto about = region_options(2 * MiB, QUIRE_PLACE_BLOCK);
    quire_region region{};
    REQUIRE_STATUS(quire_region_create(&about, 8 * MiB, &region), QUIRE_INVALID);
  }
  barrier();
}

void larger_than_a_node(quire_consistency consistency) {
  const std::uint64_t bytes = g_limit * static_cast<unsigned>(nodes()) * 5 / 8, count = bytes / sizeof(word);
  volatile word* const at = make_region("larger", bytes, QUIRE_PLACE_NODE, consistency);
  for (word round = 0; round < 3; ++round) {
    if (me() == 0) fill(at, 0, count, round);
    barrier();
    if (me() == 0) verify(at, 0, count, round);
    barrier();
  }
  const auto c = counters();
  require_limit_kept();
  if (me() != 0) return;
  // Others have room for all of it. What leaves while units are on their way to them goes to the file: about a sixth,
  // on a loaded machine a quarter.
  if (c.paged_to_nodes < (bytes - g_limit) / page || c.paged_to_disk > c.paged_to_nodes / 2)
    fail(__FILE__, __LINE__, "%" PRIu64 " pages went to other nodes, and %" PRIu64 " to disk", c.paged_to_nodes,
         c.paged_to_disk);
}

void copies() {
  const std::uint64_t bytes = g_limit * static_cast<unsigned>(nodes()) / 2, count = bytes / sizeof(word);
  volatile word* const at = make_region("copies", bytes, QUIRE_PLACE_BLOCK, QUIRE_SEQUENTIAL);
  const std::uint64_t share = count / static_cast<unsigned>(nodes()), mine = share * static_cast<unsigned>(me());
  for (word round = 0; round < 3; ++round) {
    fill(at, mine, mine + share, round);
    barrier();
    verify(at, 0, share * static_cast<unsigned>(nodes()), round);
    barrier();
  }
  require_limit_kept();
  REQUIRE(counters().copies_dropped > (bytes - g_limit) / page);
}

void larger_than_all(const char* name, quire_consistency consistency, bool limit_is_kept) {
  const auto before = counters();
  const std::uint64_t bytes = g_limit * static_cast<unsigned>(nodes()) * 2, count = bytes / sizeof(word);
  volatile word* const at = make_region(name, bytes, QUIRE_PLACE_BLOCK, consistency);
  const std::uint64_t share = count / static_cast<unsigned>(nodes());
  for (word round = 0; round < 3; ++round) {
    const auto owner = (static_cast<unsigned>(me()) + round) % static_cast<unsigned>(nodes());
    fill(at, owner * share, (owner + 1) * share, round);
    barrier();
    const auto reader = (owner + 1) % static_cast<unsigned>(nodes());
    verify(at, reader * share, (reader + 1) * share, round);
    barrier();
  }
  if (!limit_is_kept) return;
  require_limit_kept();
  const auto c = counters();
  REQUIRE(c.paged_to_disk > before.paged_to_disk && c.paged_from_disk > before.paged_from_disk);
}

/// The last node alone writes all that has its home at node 0, and cannot keep it.
void unequal() {
  const std::uint64_t bytes = g_limit * 3, count = bytes / sizeof(word);
  volatile word* const at = make_region("unequal", bytes, QUIRE_PLACE_NODE, QUIRE_RELEASE);
  const bool writer = me() == nodes() - 1;
  for (word round = 0; round < 4; ++round) {
    if (writer) fill(at, 0, count, round);
    barrier();
    if (round % 2 == 0 || !writer) verify(at, 0, count, round);
    barrier();
  }
  REQUIRE(!writer || counters().copies_dropped > (bytes - g_limit) / page);
  REQUIRE(me() != 0 || counters().copies_dropped == 0);
}

/// Pages that are counted up under locks, by pins, by atomic operations, and by parallel blocks, in all orders.
void mixed() {
  constexpr int threads = 2, steps = 400;
  const std::uint64_t bytes = g_limit * static_cast<unsigned>(nodes()), pages = bytes / page;
  auto about = region_options(page, QUIRE_PLACE_MODULO);
  quire_region region{};
  void* address = nullptr;
  if (me() == 0) REQUIRE_OK(quire_region_create(&about, bytes, &region));
  REQUIRE_OK(quire_broadcast(&region, sizeof region, 0));
  REQUIRE_OK(quire_region_range(region, &address, nullptr));
  auto* const at = static_cast<word*>(address);
  quire_mutex mutex{};
  if (me() == 0) REQUIRE_OK(quire_mutex_create(&mutex));
  REQUIRE_OK(quire_broadcast(&mutex, sizeof mutex, 0));
  const auto everyone = static_cast<std::uint64_t>(nodes() * threads);
  std::atomic<std::uint64_t> added{0}, pinned{0}, locked{0};
  for (word phase = 0; phase < 3; ++phase) {
    on_threads(threads, [&](int thread) {
      random_numbers draw(phase * 1000 + static_cast<word>(me() * threads + thread));
      for (int i = 0; i < steps; ++i) {
        word* const words = at + draw.below(pages) * words_per_page;
        const auto what = draw.below(4);
        if (what == 0) {
          word before = 0;
          REQUIRE_OK(quire_fetch_add(words, 1, &before));
          ++added;
        } else if (what == 1) {
          REQUIRE_OK(quire_pin(words, page, -1, nullptr));
          words[1 + thread] += 1;  // the pin is the node's
          REQUIRE_OK(quire_unpin(words, page));
          ++pinned;
        } else if (what == 2) {
          REQUIRE_OK(quire_mutex_lock(mutex));
          words[3] += 1;
          REQUIRE_OK(quire_mutex_unlock(mutex));
          ++locked;
        } else {
          const volatile word* const look = words;
          REQUIRE(look[1] <= steps * everyone * 3);
        }
      }
    });
    barrier();
    REQUIRE_OK(quire_region_set_consistency(region, phase == 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL));
  }
  REQUIRE_OK(quire_block_begin(region, QUIRE_BLOCK_CHECK));
  for (std::uint64_t p = 0; p < pages; p += 7) at[p * words_per_page + 8 + static_cast<unsigned>(me())] = p + 1;
  quire_overlap overlap{};
  REQUIRE_OK(quire_block_end(region, &overlap));
  std::int64_t sums[3] = {static_cast<std::int64_t>(added), static_cast<std::int64_t>(pinned),
                          static_cast<std::int64_t>(locked)};
  REQUIRE_OK(quire_reduce_i64(sums, 3, QUIRE_SUM));
  word found[3] = {};
  for (std::uint64_t p = 0; p < pages; ++p) {
    const volatile word* const words = at + p * words_per_page;
    found[0] += words[0];
    found[1] += words[1] + words[2];
    found[2] += words[3];
    for (int n = 0; n < nodes(); ++n) REQUIRE_EQUAL(words[8 + n], p % 7 == 0 ? p + 1 : 0);
  }
  for (int k = 0; k < 3; ++k) REQUIRE_EQUAL(found[k], sums[k]);
  barrier();
  REQUIRE(counters().copies_dropped != 0);
}

/// Node 0 needs the file. Node 1 asks node 0, which knows all names, for one after the other, and waits for none as
/// long as the disk takes.
void slow() {
  using clock = std::chrono::steady_clock;
  const std::uint64_t count = g_limit * 4 / sizeof(word);
  volatile word* const at = make_region("slow", g_limit * 4, QUIRE_PLACE_NODE, QUIRE_SEQUENTIAL);
  barrier();
  if (me() == 0) {
    fill(at, 0, count, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));  // so that the slow write ends
    verify(at, 0, count, 1);
    REQUIRE(counters().paged_to_disk != 0);
    REQUIRE_OK(quire_publish("over", const_cast<word*>(at)));
  } else if (me() == 1) {
    auto longest = clock::duration::zero();
    for (quire_status found = QUIRE_TIMED_OUT; found != QUIRE_OK;) {
      void* where = nullptr;
      const auto begin = clock::now();
      found = quire_lookup("over", 0, &where);
      longest = std::max(longest, clock::now() - begin);
    }
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(longest).count();
    if (ms > 400) fail(__FILE__, __LINE__, "node 0 answered after %ld ms", static_cast<long>(ms));
  }
  barrier();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const char* const limit = std::getenv("QUIRE_MEMORY_LIMIT");
  g_limit = limit != nullptr ? std::strtoull(limit, nullptr, 10) * MiB : 0;
  if (g_limit == 0) return 2;
  const char* const number = std::getenv("QUIRE_JOB_NODE");
  if (what == "unequal" && (number == nullptr || *number == '0')) ::unsetenv("QUIRE_MEMORY_LIMIT");
  REQUIRE_OK(quire_start(nullptr));
  if (what == "nodes") {
    units_too_large();
    larger_than_a_node(QUIRE_SEQUENTIAL);
  }
  if (what == "homes") larger_than_a_node(QUIRE_RELEASE);
  if (what == "copies") copies();
  if (what == "disk" || what == "full") {
    larger_than_all("sequential", QUIRE_SEQUENTIAL, what == "disk");
    larger_than_all("release", QUIRE_RELEASE, what == "disk");
  }
  if (what == "mixed") mixed();
  if (what == "unequal") unequal();
  if (what == "slow") slow();
  REQUIRE_OK(quire_end());
  return 0;
}
