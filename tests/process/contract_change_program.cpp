// SPDX-License-Identifier: BSD-3-Clause
// Contract of quire_region_set_consistency(): a region's consistency changes to and fro, and every word is what it was
// before; threads that use the region all the while lose nothing; calls that make no sense end on all nodes alike. With
// "minipages": of units of 272 bytes, used by both views. With "time": what a change costs.
#include <atomic>
#include <string_view>

#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t page = 4096;
using word = std::uint64_t;

int nodes() { return quire_nodes(); }
int me() { return quire_node(); }

std::size_t minipage_bytes = 0;  ///< of regions that threads use by both views, if not 0

struct area {
  quire_region region{};
  volatile word* words = nullptr;
  std::size_t count = 0;
  /// Of a region with minipages: some in the natural view, some each in the view that shows its minipage alone.
  [[nodiscard]] volatile word& at(std::size_t i) const {
    if (minipage_bytes == 0 || mix(i / 64 + static_cast<word>(me())) % 3 == 0) return words[i];
    void* alone = nullptr;
    REQUIRE_OK(quire_view(const_cast<const word*>(words) + i, QUIRE_FINE, &alone));
    return *static_cast<volatile word*>(alone);
  }
  void set(quire_consistency to) const { REQUIRE_OK(quire_region_set_consistency(region, to)); }
};

area make_area(const std::string& name, std::size_t bytes, const quire_region_options& about) {
  area a;
  a.words = shared_region<word>(name, bytes, about);
  a.count = bytes / sizeof(word);
  REQUIRE_OK(quire_region_of(const_cast<const word*>(a.words), &a.region));
  barrier();
  return a;
}

quire_mutex make_mutex() {
  quire_mutex m{};
  if (me() == 0) REQUIRE_OK(quire_mutex_create(&m));
  REQUIRE_OK(quire_broadcast(&m, sizeof m, 0));
  return m;
}

/// In every round each word is written by one thread, drawn anew, or by none; then the consistency may change; then
/// every node reads all of it, or a part.
void to_and_fro(const char* name, std::size_t unit, quire_placement placement, quire_consistency first, int rounds) {
  constexpr int threads = 2;
  constexpr std::size_t bytes = 160 * 1024;
  auto about = region_options(minipage_bytes != 0 ? 0 : unit, placement, nodes() - 1);
  about.minipage_bytes = minipage_bytes;
  about.consistency = first;
  const area a = make_area(name, bytes, about);
  quire_consistency now = first;
  std::vector<word> expected(a.count);
  const auto writers = static_cast<std::uint64_t>(threads * nodes());
  for (int round = 1; round <= rounds; ++round) {
    const auto seed = static_cast<word>(round);
    const std::size_t grain = round % 3 == 0 ? 700 : round % 3 == 1 ? 3 : 64;
    const auto owner_of = [&](std::size_t i) {
      return mix(i / grain * 77 + seed) % (writers + (round % 4 == 0 ? 3 * writers : 1));
    };
    const auto value_of = [&](std::size_t i) { return mix(i * 1000 + seed); };
    on_threads(threads, [&](int thread) {
      const auto mine = static_cast<std::uint64_t>(me() * threads + thread);
      for (std::size_t i = 0; i < a.count; ++i) {
        if (owner_of(i) != mine) continue;
        REQUIRE_EQUAL(a.at(i), expected[i]);
        a.at(i) = value_of(i);
      }
    });
    for (std::size_t i = 0; i < a.count; ++i) {
      if (owner_of(i) < writers) expected[i] = value_of(i);
    }
    if (mix(seed) % 4 != 0) {
      now = now == QUIRE_RELEASE ? QUIRE_SEQUENTIAL : QUIRE_RELEASE;
      if (mix(seed + 9) % 4 == 0) barrier();
      a.set(now);
    } else if (round % 2 == 0) {
      a.set(now);  // a barrier
    } else {
      barrier();
    }
    const bool all = round % 5 == 0 || round == rounds;
    for (std::size_t i = 0; i < a.count; ++i) {
      if (all || (mix(i / 512 + seed) + static_cast<word>(me())) % 3 == 0) REQUIRE_EQUAL(a.at(i), expected[i]);
    }
    if (mix(seed + 5) % 3 == 0) {  // with copies all about
      now = now == QUIRE_RELEASE ? QUIRE_SEQUENTIAL : QUIRE_RELEASE;
      a.set(now);
    } else {
      barrier();
    }
  }
}

/// Threads count by atomic operations, under locks, and each by itself on words that lie together, and others read
/// everything, while the region changes.
void under_load(const char* name, std::size_t unit, quire_placement placement, int changes) {
  constexpr std::size_t units = 12;
  const area a = make_area(name, units * unit, region_options(unit, placement));
  const std::size_t per_unit = unit / sizeof(word);
  const quire_mutex mutex = make_mutex();
  std::atomic<bool> stop{false};
  std::atomic<word> atomics{0}, locked{0};
  constexpr std::size_t own_words = 8;
  std::atomic<word> own{0};
  const auto own_word = [&](std::size_t u) { return u * per_unit + 100 + static_cast<std::size_t>(me()); };
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (word i = 0; !stop; ++i) {
      REQUIRE_OK(quire_fetch_add(const_cast<word*>(&a.words[i % 5 * per_unit + 1]), 1, nullptr));
      ++atomics;
    }
  });
  threads.emplace_back([&] {
    for (word i = 0; !stop; ++i) {
      REQUIRE_OK(quire_mutex_lock(mutex));
      const std::size_t at = i % 3 * per_unit;
      a.words[at + 2] = a.words[at + 2] + 1;
      a.words[at + per_unit + 3] = a.words[at + 2];
      ++locked;
      REQUIRE_OK(quire_mutex_unlock(mutex));
    }
  });
  threads.emplace_back([&] {
    while (!stop) {
      ++own;
      for (std::size_t u = 0; u < own_words; ++u) a.words[own_word(u)] = own;
    }
  });
  threads.emplace_back([&] {
    std::vector<word> seen(static_cast<std::size_t>(nodes()) * units);
    while (!stop) {
      for (std::size_t u = 0; u < own_words; ++u) {
        for (std::size_t n = 0; n < static_cast<std::size_t>(nodes()); ++n) {
          const word value = a.words[u * per_unit + 100 + n];
          REQUIRE(value >= seen[u * static_cast<std::size_t>(nodes()) + n]);
          seen[u * static_cast<std::size_t>(nodes()) + n] = value;
        }
      }
      std::this_thread::yield();
    }
  });
  random_numbers draw(7);
  for (int i = 0; i < changes; ++i) {
    a.set(i % 2 == 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL);
    if (draw.below(3) == 0) sleep_ms(static_cast<int>(draw.below(4)));
  }
  while (atomics == 0 || locked == 0 || own == 0) sleep_ms(1);  // where cores are short the changes may be over first
  stop = true;
  for (auto& t : threads) t.join();
  std::int64_t counted[2] = {static_cast<std::int64_t>(atomics), static_cast<std::int64_t>(locked)};
  REQUIRE_OK(quire_reduce_i64(counted, 2, QUIRE_SUM));
  word by_atomics = 0, by_locks = 0;
  for (std::size_t u = 0; u < 5; ++u) by_atomics += a.words[u * per_unit + 1];
  for (std::size_t u = 0; u < 3; ++u) {
    by_locks += a.words[u * per_unit + 2];
    if (a.words[u * per_unit + 2] != 0) REQUIRE(a.words[(u + 1) * per_unit + 3] != 0);
  }
  REQUIRE_EQUAL(by_atomics, counted[0]);
  REQUIRE_EQUAL(by_locks, counted[1]);
  for (std::size_t u = 0; u < own_words; ++u) REQUIRE_EQUAL(a.words[own_word(u)], own);
  for (int n = 0; n < nodes(); ++n) {
    std::int64_t last = me() == n ? static_cast<std::int64_t>(own) : 0;
    REQUIRE_OK(quire_reduce_i64(&last, 1, QUIRE_SUM));
    for (std::size_t u = 0; u < own_words; ++u)
      REQUIRE_EQUAL(a.words[u * per_unit + 100 + static_cast<std::size_t>(n)], last);
  }
}

/// Each consistency behaves as it should after a change.
void what_it_is() {
  const area a = make_area("what it is", 4 * page, region_options(page, QUIRE_PLACE_NODE, 0));
  const auto mine = static_cast<std::size_t>(me());
  a.words[mine] = 1;
  a.set(QUIRE_RELEASE);
  a.words[mine] = 2;
  barrier();
  a.words[mine] = 3;
  const auto before = counters();
  for (word i = 3; i < 5000; ++i) a.words[mine] = i;  // its own copy
  REQUIRE_EQUAL(counters().write_faults, before.write_faults);
  a.set(QUIRE_SEQUENTIAL);
  for (int n = 0; n < nodes(); ++n) REQUIRE_EQUAL(a.words[n], 4999);
  barrier();
  // The last write is seen at once, with nothing but memory to tell of it.
  volatile word* const turn = a.words + page / sizeof(word);
  for (word round = 0; round < 20; ++round) {
    const word wanted = round * static_cast<word>(nodes()) + static_cast<word>(me());
    while (*turn != wanted) std::this_thread::yield();
    REQUIRE_EQUAL(a.words[2 * page / sizeof(word)], wanted * 3);
    a.words[2 * page / sizeof(word)] = (wanted + 1) * 3;
    *turn = wanted + 1;
  }
  barrier();
  a.set(QUIRE_RELEASE);
  // Homes still move to the only writer.
  if (me() == nodes() - 1) a.words[3 * page / sizeof(word)] = 1;
  for (word round = 2; round < 8; ++round) {
    barrier();
    REQUIRE_EQUAL(a.words[3 * page / sizeof(word)], round - 1);
    barrier();
    if (me() == nodes() - 1) a.words[3 * page / sizeof(word)] = round;
  }
  a.set(QUIRE_SEQUENTIAL);
  REQUIRE_EQUAL(a.words[3 * page / sizeof(word)], 7);
}

void pinned() {
  const area a = make_area("pinned", 4 * page, region_options(page, QUIRE_PLACE_MODULO));
  int holder = 0;
  if (me() == nodes() - 1) REQUIRE_OK(quire_pin(const_cast<word*>(a.words), 2 * page, -1, &holder));
  REQUIRE_STATUS(quire_region_set_consistency(a.region, QUIRE_RELEASE), QUIRE_BUSY);
  REQUIRE_OK(quire_region_set_consistency(a.region, QUIRE_SEQUENTIAL));
  if (me() == nodes() - 1) {
    a.words[0] = 5;
    REQUIRE_OK(quire_unpin(const_cast<word*>(a.words), 2 * page));
  }
  a.set(QUIRE_RELEASE);
  REQUIRE_EQUAL(a.words[0], 5);
  REQUIRE_OK(quire_pin(const_cast<word*>(a.words), page, -1, nullptr));
  REQUIRE_STATUS(quire_push(const_cast<word*>(a.words), page), QUIRE_BUSY);
  REQUIRE_OK(quire_unpin(const_cast<word*>(a.words), page));
  REQUIRE_OK(quire_push(const_cast<word*>(a.words), page));
  a.set(QUIRE_SEQUENTIAL);
  REQUIRE_OK(quire_push(const_cast<word*>(a.words), page));
  REQUIRE_OK(quire_pin(const_cast<word*>(a.words), page, -1, nullptr));
  a.words[1] = a.words[1] + 1;
  REQUIRE_OK(quire_unpin(const_cast<word*>(a.words), page));
  barrier();
  REQUIRE_EQUAL(a.words[1], nodes());
}

/// Threads that wait for pins, of which some time out, while changes are refused.
void pins_under_load() {
  const area a = make_area("pins under load", 4 * page, region_options(page, QUIRE_PLACE_MODULO));
  std::atomic<bool> stop{false};
  word done = 0;
  std::thread user([&] {
    for (word i = 0; !stop; ++i) {
      const quire_status got = quire_pin(const_cast<word*>(a.words), 2 * page, i % 3 == 0 ? 1 : -1, nullptr);
      if (got == QUIRE_UNSUPPORTED || got == QUIRE_TIMED_OUT) {
        std::this_thread::yield();
        continue;
      }
      REQUIRE_EQUAL(got, QUIRE_OK);
      a.words[5] = a.words[5] + 1;
      a.words[page / sizeof(word)] = a.words[5];
      ++done;
      REQUIRE_OK(quire_unpin(const_cast<word*>(a.words), 2 * page));
    }
  });
  int changed = 0;
  for (int i = 0; i < 60; ++i) {
    const auto got = quire_region_set_consistency(a.region, changed % 2 == 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL);
    if (got == QUIRE_OK) ++changed;
    REQUIRE(got == QUIRE_OK || got == QUIRE_BUSY);
    std::int64_t same[2] = {got, -static_cast<std::int64_t>(got)};
    REQUIRE_OK(quire_reduce_i64(same, 2, QUIRE_MAX));
    REQUIRE_EQUAL(same[0], -same[1]);
    if (i % 8 == 0) sleep_ms(1);
  }
  stop = true;
  user.join();
  std::int64_t all = static_cast<std::int64_t>(done);
  REQUIRE_OK(quire_reduce_i64(&all, 1, QUIRE_SUM));
  REQUIRE_EQUAL(a.words[5], all);
  a.set(QUIRE_SEQUENTIAL);
}

void bad_calls() {
  const area a = make_area("bad", 4 * page, region_options(page, QUIRE_PLACE_BLOCK));
  const area b = make_area("bad too", 4 * page, region_options(page, QUIRE_PLACE_BLOCK));
  a.words[me()] = 7;
  REQUIRE_STATUS(quire_region_set_consistency(quire_region{0}, QUIRE_RELEASE), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_set_consistency(quire_region{4000}, QUIRE_RELEASE), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_set_consistency(quire_region{~std::uint64_t{0}}, QUIRE_RELEASE), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_set_consistency(a.region, static_cast<quire_consistency>(2)), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_set_consistency(a.region, static_cast<quire_consistency>(-1)), QUIRE_INVALID);
  if (nodes() > 1) {
    REQUIRE_STATUS(quire_region_set_consistency(me() == 0 ? a.region : b.region, QUIRE_RELEASE), QUIRE_INVALID);
    REQUIRE_STATUS(quire_region_set_consistency(a.region, me() == 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL), QUIRE_INVALID);
    REQUIRE_STATUS(
        me() == 0 ? quire_region_set_consistency(a.region, QUIRE_RELEASE) : quire_barrier_wait(quire_barrier{0}),
        QUIRE_INVALID);
  }
  for (int n = 0; n < nodes(); ++n) {
    while (a.words[n] != 7) std::this_thread::yield();  // it is sequential as before
  }
  barrier();
}

/// A large region of which little is used, and one that nobody has used.
void sparse() {
  const area a = make_area("sparse", std::size_t{8} << 30, region_options(page, QUIRE_PLACE_MODULO));
  for (word round = 0; round < 6; ++round) {
    a.set(round % 2 == 0 ? QUIRE_RELEASE : QUIRE_SEQUENTIAL);
    if (round == 2) a.words[static_cast<std::size_t>(me())] = 1;
    if (round == 3) a.words[(std::size_t{1} << 20) / sizeof(word) + static_cast<std::size_t>(me())] = 2;
  }
  for (int n = 0; n < nodes(); ++n) REQUIRE_EQUAL(a.words[n], 1);
  for (int n = 0; n < nodes(); ++n)
    REQUIRE_EQUAL(a.words[(std::size_t{1} << 20) / sizeof(word) + static_cast<std::size_t>(n)], 2);
}

void run_all() {
  section("to and fro, blocks", [] { to_and_fro("tf block", page, QUIRE_PLACE_BLOCK, QUIRE_SEQUENTIAL, 40); });
  section("to and fro, modulo, 16 KiB",
          [] { to_and_fro("tf modulo", 4 * page, QUIRE_PLACE_MODULO, QUIRE_RELEASE, 30); });
  section("to and fro, one home", [] { to_and_fro("tf node", page, QUIRE_PLACE_NODE, QUIRE_SEQUENTIAL, 30); });
  section("to and fro, first touch", [] { to_and_fro("tf first", page, QUIRE_PLACE_FIRST_TOUCH, QUIRE_RELEASE, 30); });
  section("to and fro, first touch, strong first",
          [] { to_and_fro("tf ft s", page, QUIRE_PLACE_FIRST_TOUCH, QUIRE_SEQUENTIAL, 20); });
  section("to and fro, 64 KiB", [] { to_and_fro("tf large", 16 * page, QUIRE_PLACE_BLOCK, QUIRE_RELEASE, 20); });
  section("under load, modulo", [] { under_load("load", page, QUIRE_PLACE_MODULO, 80); });
  section("under load, blocks, 8 KiB", [] { under_load("load large", 2 * page, QUIRE_PLACE_BLOCK, 40); });
  section("under load, first touch", [] { under_load("load first", page, QUIRE_PLACE_FIRST_TOUCH, 40); });
  section("what it is", what_it_is);
  section("pinned", pinned);
  section("pins under load", pins_under_load);
  section("bad calls", bad_calls);
  section("sparse", sparse);
}

void run_minipages() {
  minipage_bytes = 272;
  section("to and fro, blocks", [] { to_and_fro("tf block", page, QUIRE_PLACE_BLOCK, QUIRE_SEQUENTIAL, 25); });
  section("to and fro, modulo", [] { to_and_fro("tf modulo", page, QUIRE_PLACE_MODULO, QUIRE_RELEASE, 25); });
  section("to and fro, first touch", [] { to_and_fro("tf first", page, QUIRE_PLACE_FIRST_TOUCH, QUIRE_RELEASE, 20); });
}

/// Microseconds that a change takes, for regions written by all nodes in stretches of a unit.
void run_time() {
  for (const std::size_t mib : {1, 16, 256}) {
    const area a = make_area("time " + std::to_string(mib), mib << 20, region_options(page, QUIRE_PLACE_BLOCK));
    const std::size_t per_unit = page / sizeof(word);
    for (std::size_t u = 0; u < a.count / per_unit; ++u) {
      if (static_cast<int>(u / 16) % nodes() == me()) a.words[u * per_unit] = u;
    }
    barrier();
    for (std::size_t u = 0; u < a.count / per_unit; u += 3) REQUIRE_EQUAL(a.words[u * per_unit], u);
    for (int round = 0; round < 3; ++round) {
      for (const auto to : {QUIRE_RELEASE, QUIRE_SEQUENTIAL}) {
        barrier();
        const double begin = now_seconds();
        a.set(to);
        const char* const name = to == QUIRE_RELEASE ? "release" : "sequential";
        if (me() == 0) std::printf("%4zu MiB to %-10s %9.0f us\n", mib, name, (now_seconds() - begin) * 1e6);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  return node_main(what == "time" ? run_time : what == "minipages" ? run_minipages : run_all);
}
