// SPDX-License-Identifier: BSD-3-Clause
// Contract of page locking (KOAN): what a node has acquired is its own until it releases it, though it uses plain loads
// and stores; pins nest and overlap; a call that waits may give up, and is told who has the page. With an argument: the
// limit (QUIRE_PIN_LIMIT=8), calls that give up at once, the end of a job whose nodes have pins, and the death of a
// node that has some; "release" (and "scan"): under release consistency, where the home, and who has a copy, go on
// using it.
#include <signal.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string_view>

#include <quire/memory.hpp>

#include "node.hpp"

using namespace quire::test;
using namespace std::chrono_literals;

namespace {

const std::size_t unit_bytes = unit_at_least(4096), unit_words = unit_bytes / sizeof(std::uint64_t);

bool relaxed = false, scans = false;

std::uint64_t* make_region(const char* name, std::size_t units, quire_placement placement = QUIRE_PLACE_NODE) {
  quire_region_options about = region_options(unit_bytes, placement, 0);
  if (relaxed) about.consistency = QUIRE_RELEASE;
  if (scans) about.detector = QUIRE_DETECT_SCAN;
  auto* words = shared_region<std::uint64_t>(name, units * unit_bytes, about);
  barrier();
  return words;
}
bool is_node(int n) { return quire_node() == n % quire_nodes(); }
std::uint64_t all_nodes() { return static_cast<std::uint64_t>(quire_nodes()); }

/// What no call has brought: here nodes fault, whoever is fast.
void plain_read() {
  const auto* const volatile words = make_region("read", all_nodes(), QUIRE_PLACE_MODULO);
  const auto next = static_cast<std::size_t>(quire_node() + 1) % all_nodes();
  REQUIRE_EQUAL(*static_cast<const volatile std::uint64_t*>(words + next * unit_words), std::uint64_t{0});
  barrier();
}

/// The only lock is the page. The words of a unit are read, and written a while later.
void plain_increments() {
  constexpr int times = 200;
  auto* volatile words = make_region("increments", 1);
  for (int i = 0; i < times; ++i) {
    REQUIRE_OK(quire_pin(words, 16, -1, nullptr));
    const std::uint64_t a = words[0], b = words[1];
    REQUIRE_EQUAL(a, b);
    words[0] = a + 1;
    if (i % 8 == 0) std::this_thread::yield();
    words[1] = b + 1;
    REQUIRE_OK(quire_unpin(words, 16));
  }
  barrier();
  REQUIRE_EQUAL(words[0], times * all_nodes());
  REQUIRE_EQUAL(words[1], times * all_nodes());
}

/// Several threads on each node, which have a lock of their own among themselves.
void threads_of_each_node() {
  constexpr int threads = 3, times = 60;
  auto* volatile words = make_region("threads", 1, QUIRE_PLACE_MODULO);
  std::mutex mine;
  on_threads(threads, [&](int) {
    for (int i = 0; i < times; ++i) {
      REQUIRE_OK(quire_pin(words, 8, -1, nullptr));
      {
        const std::lock_guard guard(mine);
        words[0] = words[0] + 1;
      }
      REQUIRE_OK(quire_unpin(words, 8));
    }
  });
  barrier();
  REQUIRE_EQUAL(words[0], all_nodes() * threads * times);
}

/// Ranges of several units that overlap; nobody waits in a circle, and all counts are right.
void overlapping_ranges() {
  constexpr std::size_t units = 12;
  constexpr int times = 80;
  auto* volatile words = make_region("overlapping", units, QUIRE_PLACE_MODULO);
  random_numbers random(static_cast<std::uint64_t>(quire_node()) + 1);
  std::vector<std::uint64_t> mine(units, 0);
  for (int i = 0; i < times; ++i) {
    const std::size_t first = random.below(units), count = 1 + random.below(std::min<std::size_t>(4, units - first));
    auto* const at = words + first * unit_words;
    REQUIRE_OK(quire_pin(at, count * unit_bytes, -1, nullptr));
    for (std::size_t unit = first; unit < first + count; ++unit) {
      const std::uint64_t before = words[unit * unit_words];
      words[unit * unit_words] = before + 1;
      ++mine[unit];
    }
    REQUIRE_OK(quire_unpin(at, count * unit_bytes));
  }
  auto* sums = shared_object<std::uint64_t>("overlapping sums", units);
  barrier();
  for (std::size_t unit = 0; unit < units; ++unit) REQUIRE_OK(quire_fetch_add(&sums[unit], mine[unit], nullptr));
  barrier();
  for (std::size_t unit = 0; unit < units; ++unit) REQUIRE_EQUAL(words[unit * unit_words], sums[unit]);
}

/// Under release consistency a pin orders all memory, as a lock does; also what was written before the pin, and
/// elsewhere.
void what_lies_around() {
  constexpr std::size_t units = 6;
  auto* volatile words = make_region("around", units, QUIRE_PLACE_MODULO);
  auto* const lock = words + (units - 1) * unit_words;
  for (std::uint64_t i = 0; i < 60; ++i) {
    REQUIRE_OK(quire_pin(lock, 8, -1, nullptr));
    const std::uint64_t turn = words[7];
    for (std::size_t u = 0; u < units; ++u) REQUIRE_EQUAL(words[u * unit_words + 7], turn);
    for (std::size_t u = 0; u < units; ++u) words[u * unit_words + 7] = turn + 1;
    REQUIRE_OK(quire_unpin(lock, 8));
    words[i % units * unit_words + 100 + static_cast<std::size_t>(quire_node())] = i;  // of this node alone
  }
  barrier();
  REQUIRE_EQUAL(words[7], 60 * all_nodes());
}

/// Other nodes write other words of the unit all the while, under another lock; nothing is lost.
void no_race() {
  auto* volatile words = make_region("no race", 1, QUIRE_PLACE_MODULO);
  quire_mutex mutex{};
  if (is_node(0)) REQUIRE_OK(quire_mutex_create(&mutex));
  REQUIRE_OK(quire_broadcast(&mutex, sizeof mutex, 0));
  constexpr int times = 60;
  on_threads(3, [&](int thread) {
    for (int i = 1; i <= times; ++i) {
      if (thread == 0) {
        REQUIRE_OK(quire_pin(words, 8, -1, nullptr));
        words[0] = words[0] + 1;
        REQUIRE_OK(quire_unpin(words, 8));
      } else if (thread == 1) {
        REQUIRE_OK(quire_mutex_lock(mutex));
        words[1] = words[1] + 1;
        REQUIRE_OK(quire_mutex_unlock(mutex));
      } else {
        volatile std::uint64_t& own = words[2 + quire_node()];
        REQUIRE_EQUAL(own, i - 1);
        own = static_cast<std::uint64_t>(i);
      }
    }
  });
  barrier();
  for (int i = 0; i < 2; ++i) REQUIRE_EQUAL(words[i], times * all_nodes());
  for (int n = 0; n < quire_nodes(); ++n) REQUIRE_EQUAL(words[2 + n], times);
}

/// What is pinned keeps its consistency; in a block nothing is pinned.
void blocks_and_changes() {
  auto* words = make_region("changes", 2);
  quire_region region{};
  REQUIRE_OK(quire_region_of(words, &region));
  if (is_node(1)) REQUIRE_OK(quire_pin(words, 8, -1, nullptr));
  REQUIRE_STATUS(quire_block_begin(region, 0), QUIRE_BUSY);
  if (!scans) REQUIRE_STATUS(quire_region_set_consistency(region, QUIRE_SEQUENTIAL), QUIRE_BUSY);
  if (is_node(1)) REQUIRE_OK(quire_unpin(words, 8));
  REQUIRE_OK(quire_block_begin(region, 0));
  REQUIRE_STATUS(quire_pin(words, 8, 0, nullptr), QUIRE_UNSUPPORTED);
  REQUIRE_OK(quire_block_end(region, nullptr));
  REQUIRE_OK(quire_pin(words, 8, -1, nullptr));
  REQUIRE_OK(quire_unpin(words, 8));
  if (scans) return;
  REQUIRE_OK(quire_region_set_consistency(region, QUIRE_SEQUENTIAL));
  REQUIRE_OK(quire_pin(words, 8, -1, nullptr));
  words[0] = words[0] + 1;
  REQUIRE_OK(quire_unpin(words, 8));
  REQUIRE_OK(quire_region_set_consistency(region, QUIRE_RELEASE));
  REQUIRE_OK(quire_pin(words, 8, -1, nullptr));
  REQUIRE_EQUAL(words[0], all_nodes());
  REQUIRE_OK(quire_unpin(words, 8));
}

/// Pins are counted for each unit; ranges that overlap are released one by one.
void nested_pins() {
  auto* volatile words = make_region("nested", 4);
  if (is_node(1)) {
    REQUIRE_OK(quire_pin(words, 3 * unit_bytes, -1, nullptr));
    REQUIRE_OK(quire_pin(words + unit_words, 3 * unit_bytes, -1, nullptr));
    REQUIRE_OK(quire_pin(words + 10, 8, 0, nullptr));
    REQUIRE_OK(quire_unpin(words, 3 * unit_bytes));
    // Unit 0 is pinned once more, units 1 to 3 once.
    REQUIRE_STATUS(quire_unpin(words, 2 * unit_bytes + unit_bytes * 2 + 1), QUIRE_BAD_ADDRESS);
    for (std::size_t unit = 0; unit < 4; ++unit) words[unit * unit_words] = unit + 1;
    barrier();  // others try now
    barrier();
    REQUIRE_OK(quire_unpin(words + 5, 1));
    REQUIRE_OK(quire_unpin(words + unit_words, 3 * unit_bytes));
    REQUIRE_STATUS(quire_unpin(words, 1), QUIRE_NOT_OWNER);
  } else {
    barrier();
    for (std::size_t unit = 0; quire_nodes() > 1 && unit < 4; ++unit) {
      int holder = -7;
      REQUIRE_STATUS(quire_pin(words + unit * unit_words, 8, 20, &holder), QUIRE_TIMED_OUT);
      REQUIRE_EQUAL(holder, 1);
    }
    barrier();
  }
  barrier();
  for (std::size_t unit = 0; unit < 4; ++unit) REQUIRE_EQUAL(words[unit * unit_words], unit + 1);
}

/// While a node has a page, all others wait that read, write or change it otherwise; and no longer.
void others_wait() {
  if (quire_nodes() < 2) return;
  auto* volatile words = make_region("others wait", 1);
  auto* released = shared_object<std::uint64_t>("released");
  barrier();
  if (is_node(1)) {
    REQUIRE_OK(quire_pin(words, 8, -1, nullptr));
    words[0] = 1;
    if (!relaxed) REQUIRE_STATUS(quire_push(words, 8), QUIRE_BUSY);
    barrier();
    on_threads(2, [&](int) {  // threads of this node need not wait
      REQUIRE(words[0] >= 1);
      REQUIRE_OK(quire_fetch_add(words + 1, 1, nullptr));
    });
    sleep_ms(60);
    words[0] = 2;
    REQUIRE_OK(quire_fetch_add(released, 1, nullptr));
    REQUIRE_OK(quire_unpin(words, 8));
  } else {
    barrier();
    switch (quire_node() % 4) {
      case 0:
        if (relaxed && quire_node() == 0) REQUIRE_OK(quire_fetch_add(words + 4, 1, nullptr));
        REQUIRE(words[0] >= 2);
        break;
      case 2:
        words[2] = 3;
        break;
      case 3:
        REQUIRE_OK(quire_fetch_add(words + 3, 1, nullptr));
        break;
      default:
        if (relaxed) {
          REQUIRE(words[0] >= 2);
        } else {
          REQUIRE_OK(quire_push(words, 8));
        }
    }
    std::uint64_t seen = 0;
    REQUIRE_OK(quire_fetch_add(released, 0, &seen));
    REQUIRE_EQUAL(seen, 1);
  }
  barrier();
  REQUIRE_EQUAL(words[0], 2);
  REQUIRE_EQUAL(words[1], 2);
}

/// A call that gives up says who has the page, has nothing pinned, and can be made again.
void time_limits() {
  if (quire_nodes() < 2) return;
  auto* volatile words = make_region("time limits", 8, QUIRE_PLACE_MODULO);
  const int last = quire_nodes() - 1;
  auto* const kept = words + 5 * unit_words;
  if (quire_node() == last) REQUIRE_OK(quire_pin(kept, 8, -1, nullptr));
  barrier();
  if (quire_node() != last) {
    int holder = -7;
    const double begin = now_seconds();
    // All at once, so that most of them queue behind another request of the page.
    REQUIRE_STATUS(quire_pin(words + 3 * unit_words, 4 * unit_bytes, 100, &holder), QUIRE_TIMED_OUT);
    const double took = now_seconds() - begin;
    REQUIRE(took >= 0.099 && took < 10);
    REQUIRE(holder == last || quire_nodes() > 2);  // or a node that has one of the first, and waits as well
    REQUIRE_STATUS(quire_unpin(words + 3 * unit_words, 8), QUIRE_NOT_OWNER);
    REQUIRE_STATUS(quire_pin(kept, 8, 0, &holder), QUIRE_BUSY);
    REQUIRE_EQUAL(holder, last);
    REQUIRE_STATUS(quire_pin(kept, 8, 30, nullptr), QUIRE_TIMED_OUT);
  }
  barrier();
  if (quire_node() == last) REQUIRE_OK(quire_unpin(kept, 8));
  REQUIRE_OK(quire_pin(words, 8 * unit_bytes, 20'000, nullptr));
  for (std::size_t unit = 0; unit < 8; ++unit) words[unit * unit_words] = words[unit * unit_words] + 1;
  REQUIRE_OK(quire_unpin(words, 8 * unit_bytes));
  barrier();
  for (std::size_t unit = 0; unit < 8; ++unit) REQUIRE_EQUAL(words[unit * unit_words], all_nodes());
}

/// Calls whose time is over at once, by several threads beside others that drive: a call that gives up is forgotten by
/// all, wherever it was at that moment, and one that has what it wanted has it once. QUIRE_SPIN_US=0, so that calls are
/// queued while another thread drives.
void impatience() {
  constexpr std::size_t units = 4;
  constexpr int threads = 6, times = 500;
  auto* volatile words = make_region("impatience", units, QUIRE_PLACE_MODULO);
  auto* sums = shared_object<std::uint64_t>("impatience sums", units + 1);
  quire_mutex mutex{};
  if (is_node(0)) REQUIRE_OK(quire_mutex_create(&mutex));
  REQUIRE_OK(quire_broadcast(&mutex, sizeof mutex, 0));
  std::array<std::mutex, units> mine;
  on_threads(threads, [&](int thread) {
    random_numbers random(static_cast<std::uint64_t>(quire_node() * threads + thread));
    for (int i = 0; i < times; ++i) {
      const std::size_t unit = random.below(units);
      auto* const at = words + unit * unit_words;
      if (thread % 3 == 0) {
        const quire_status got = quire_pin(at, 8, 0, nullptr);
        if (got != QUIRE_OK) {
          REQUIRE_STATUS(got, QUIRE_BUSY);
          continue;
        }
        {
          const std::lock_guard guard(mine[unit]);
          at[0] = at[0] + 1;
        }
        REQUIRE_OK(quire_unpin(at, 8));
        REQUIRE_OK(quire_fetch_add(&sums[unit], 1, nullptr));
      } else if (thread % 3 == 1) {
        const quire_status got = quire_mutex_timed_lock(mutex, 1);
        if (got != QUIRE_OK) {
          REQUIRE_STATUS(got, QUIRE_TIMED_OUT);
          continue;
        }
        words[2] = words[2] + 1;
        REQUIRE_OK(quire_mutex_unlock(mutex));
        REQUIRE_OK(quire_fetch_add(&sums[units], 1, nullptr));
      } else {
        at[8 + thread + threads * quire_node()] = static_cast<std::uint64_t>(i);
      }
    }
  });
  barrier();
  for (std::size_t unit = 0; unit < units; ++unit) REQUIRE_EQUAL(words[unit * unit_words], sums[unit]);
  REQUIRE_EQUAL(words[2], sums[units]);
}

void misuse() {
  auto* words = make_region("misuse", 4);
  std::uint64_t local = 0;
  REQUIRE_STATUS(quire_pin(&local, 8, -1, nullptr), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_pin(nullptr, 8, -1, nullptr), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_unpin(&local, 8), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_acquire(&local, 8, -1, nullptr), QUIRE_BAD_ADDRESS);  // the names of before
  REQUIRE_STATUS(quire_release(&local, 8), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_unpin(words, 8), QUIRE_NOT_OWNER);
  if (is_node(0)) {
    REQUIRE_OK(quire_pin(words, unit_bytes, -1, nullptr));
    REQUIRE_STATUS(quire_unpin(words, 2 * unit_bytes), QUIRE_NOT_OWNER);
    REQUIRE_OK(quire_unpin(words, unit_bytes));  // nothing had changed
  }
}

/// The guard of the C++ API.
void guards() {
  auto* words = make_region("guards", 2);
  const std::span<std::uint64_t> both(words, 2 * unit_words), first(words, 1);
  for (int i = 0; i < 20; ++i) {
    const quire::pinned_range pinned(both);
    REQUIRE(static_cast<bool>(pinned));
    words[0] = words[0] + 1;
    words[unit_words] = words[unit_words] + 1;
  }
  barrier();
  REQUIRE_EQUAL(words[0], 20 * all_nodes());
  REQUIRE_EQUAL(words[unit_words], 20 * all_nodes());
  barrier();
  if (quire_nodes() > 1 && quire_node() < 2) {
    if (is_node(0)) {
      quire::pinned_range pinned(first);
      quire::pinned_range moved(std::move(pinned));
      REQUIRE(!pinned && moved);
      sleep_ms(200);
      moved.release();
      REQUIRE(!moved);
    } else {
      sleep_ms(50);
      const quire::pinned_range tried(first, 20ms);
      if (!tried) REQUIRE_EQUAL(tried.holder(), 0);
      const quire::pinned_range waited(first, 20s);
      REQUIRE(static_cast<bool>(waited));
    }
  }
  const quire::pinned_range nothing(std::span<std::uint64_t>{});
  REQUIRE(!nothing);
  barrier();
}

/// What a pin costs: no message where the page is, and two messages of a request that the manager settles.
void costs() {
  auto* words = make_region("costs", 64);
  if (is_node(1)) {
    REQUIRE_OK(quire_pin(words, 64 * unit_bytes, -1, nullptr));
    REQUIRE_OK(quire_unpin(words, 64 * unit_bytes));
    const auto before = counters();
    for (int i = 0; i < 100; ++i) {
      REQUIRE_OK(quire_pin(words, 64 * unit_bytes, -1, nullptr));
      REQUIRE_OK(quire_unpin(words, 64 * unit_bytes));
    }
    const auto after = counters();
    REQUIRE_EQUAL(after.pins - before.pins, 6400 * (minipages_given() != 0 ? unit_bytes / minipages_given() : 1));
    REQUIRE_EQUAL(after.write_faults + after.upgrade_faults, before.write_faults + before.upgrade_faults);
  }
}

/// With QUIRE_PIN_LIMIT=8.
void limit() {
  auto* words = make_region("limit", 32);
  if (is_node(1)) {
    REQUIRE_STATUS(quire_pin(words, 9 * unit_bytes, -1, nullptr), QUIRE_LIMIT);
    REQUIRE_OK(quire_pin(words, 6 * unit_bytes, -1, nullptr));
    REQUIRE_OK(quire_pin(words, 6 * unit_bytes, -1, nullptr));  // no unit more
    REQUIRE_STATUS(quire_pin(words + 8 * unit_words, 3 * unit_bytes, -1, nullptr), QUIRE_LIMIT);
    REQUIRE_STATUS(quire_unpin(words + 8 * unit_words, 1), QUIRE_NOT_OWNER);
    REQUIRE_OK(quire_pin(words + 8 * unit_words, 2 * unit_bytes, -1, nullptr));
    REQUIRE_OK(quire_unpin(words + 8 * unit_words, 2 * unit_bytes));
    REQUIRE_OK(quire_unpin(words, 6 * unit_bytes));
    REQUIRE_OK(quire_unpin(words, 6 * unit_bytes));
  }
  barrier();
}

/// Nodes leave with pins; the one that waits for them gets what it wants.
void end_with_pins() {
  auto* words = make_region("end", 8);
  if (is_node(1)) {
    REQUIRE_OK(quire_pin(words, 8 * unit_bytes, -1, nullptr));
    words[0] = 5;
  }
  barrier();
  if (is_node(2)) {
    sleep_ms(50);
    REQUIRE_OK(quire_pin(words, 8 * unit_bytes, -1, nullptr));
    REQUIRE_EQUAL(words[0], 5);
  }
  if (is_node(0)) (void)quire_prefetch(words, 8 * unit_bytes, 1);
}

/// A node dies with pins; the others wait for them, in all ways, and end.
void die_with_pins() {
  auto* words = make_region("death", 8);
  if (is_node(1)) REQUIRE_OK(quire_pin(words, 8 * unit_bytes, -1, nullptr));
  barrier();
  if (is_node(1)) {
    sleep_ms(100);
    ::raise(SIGKILL);
  }
  on_threads(3, [&](int thread) {
    if (thread == 0) REQUIRE_OK(quire_pin(words, 8, -1, nullptr));
    if (thread == 1) REQUIRE_OK(quire_pin(words + 1 * unit_words, 8, 60'000, nullptr));
    if (thread == 2 && relaxed && is_node(0)) REQUIRE_OK(quire_fetch_add(words + 2 * unit_words, 1, nullptr));
    if (thread == 2) *static_cast<volatile std::uint64_t*>(words + 2 * unit_words) = 1;
    fail(__FILE__, __LINE__, "a thread got what a dead node had pinned");
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const std::string_view how = argc > 2 ? argv[2] : what;
  relaxed = how == "release" || how == "scan";
  scans = how == "scan";
  return node_main([&] {
    if (what == "limit") return limit();
    if (what == "end") return end_with_pins();
    if (what == "die") return die_with_pins();
    if (what == "impatience") return section("impatience", impatience);
    if (relaxed) {
      section("what lies around", what_lies_around);
      section("no race", no_race);
      section("by blocks and changes", blocks_and_changes);
    }
    section("plain read", plain_read);
    section("plain increments", plain_increments);
    section("threads of each node", threads_of_each_node);
    section("overlapping ranges", overlapping_ranges);
    section("nested pins", nested_pins);
    section("others wait", others_wait);
    section("time limits", time_limits);
    section("misuse", misuse);
    section("guards", guards);
    section("costs", costs);
  });
}
