// SPDX-License-Identifier: BSD-3-Clause
// Contract of parallel blocks: what nodes write in one is merged, byte by byte, whoever is home; in a block that is
// checked nothing shows before the end, and two nodes that write one byte are found, with its address; afterwards the
// region is what it was: sequential, or with "release" (and "scan") release-consistent all the while. With "minipages"
// the same of units of 272 bytes, which threads use by both views (after it: "release"). With "long": more is written
// than there may be twins, as QUIRE_TWIN_LIMIT says. With "time": what it costs.
#include <algorithm>
#include <atomic>
#include <string_view>

#include "block_area.hpp"
#include "node.hpp"

using namespace quire::test;

namespace {

/// Neighbouring bytes by all threads of all nodes, block after block; the region is read in between, written, or left
/// alone.
void merges(const char* name, std::size_t unit, quire_placement placement, unsigned flags) {
  constexpr int threads = 2, rounds = 10;
  const area a = make_area(name, 96 * 1024, unit, placement);
  const auto writers = static_cast<std::size_t>(threads * nodes());
  std::vector<byte> expected(a.size);
  for (int round = 1; round <= rounds; ++round) {
    const std::size_t grain = round % 3 == 0 ? 5000 : round % 3 == 1 ? 1 : 24;
    const auto owner_of = [&](std::size_t i) {
      return (i / grain + static_cast<std::size_t>(round)) % (writers + (round % 4 == 0 ? 40 : 0));
    };
    const auto value_of = [&](std::size_t i) { return static_cast<byte>(mix(i * 100 + static_cast<word>(round))); };
    a.begin(flags);
    on_threads(threads, [&](int thread) {
      const auto mine = static_cast<std::size_t>(me() * threads + thread);
      for (std::size_t i = 0; i < a.size; ++i) {
        if (owner_of(i) != mine) continue;
        REQUIRE_EQUAL(a.at(i), expected[i]);
        a.at(i) = value_of(i);
      }
      for (std::size_t i = 0; i < a.size; ++i) {
        if (owner_of(i) == mine) REQUIRE_EQUAL(a.at(i), value_of(i));
      }
    });
    a.end();
    for (std::size_t i = 0; i < a.size; ++i) {
      if (owner_of(i) < writers) expected[i] = value_of(i);
    }
    for (std::size_t i = 0; i < a.size; ++i) {
      if (round % 2 == 0 || static_cast<int>(i / page) % nodes() == me()) REQUIRE_EQUAL(a.at(i), expected[i]);
    }
    if (round % 3 == 0) {
      barrier();
      const std::size_t at = static_cast<std::size_t>(round) * 7 % a.size;
      if (me() == round % nodes()) a.at(at) = 1;
      expected[at] = 1;
    }
    barrier();
  }
}

/// Own writes are seen in the block, those of others are not, whatever synchronises.
void isolation(quire_placement placement) {
  const area a = make_area("isolation " + std::to_string(placement), 8 * page, page, placement);
  const auto count = static_cast<std::size_t>(nodes());
  quire_mutex mutex{};
  if (me() == 0) REQUIRE_OK(quire_mutex_create(&mutex));
  REQUIRE_OK(quire_broadcast(&mutex, sizeof mutex, 0));
  for (word round = 1; round <= 6; ++round) {
    a.begin(QUIRE_BLOCK_CHECK);
    for (std::size_t u = 0; u < 8; ++u) {
      if ((u + round) % 3 != static_cast<std::size_t>(me()) % 3)
        a.word_at(u * 512 + static_cast<std::size_t>(me())) = round * 10 + u;
    }
    const auto look = [&] {
      for (std::size_t u = 0; u < 8; ++u) {
        for (std::size_t n = 0; n < count; ++n) {
          const bool mine = n == static_cast<std::size_t>(me()) && (u + round) % 3 != n % 3;
          const bool before = (u + round - 1) % 3 != n % 3;  // each pauses every third round
          const word last = round == 1 ? 0 : before ? (round - 1) * 10 + u : round == 2 ? 0 : (round - 2) * 10 + u;
          REQUIRE_EQUAL(a.word_at(u * 512 + n), mine ? round * 10 + u : last);
        }
      }
    };
    if (round % 2 == 0) look();
    barrier();
    look();
    REQUIRE_OK(quire_mutex_lock(mutex));
    a.word_at(300 + static_cast<std::size_t>(me())) = round;
    REQUIRE_OK(quire_mutex_unlock(mutex));
    barrier();
    look();
    for (std::size_t n = 0; n < count; ++n) {
      REQUIRE_EQUAL(a.word_at(300 + n), n == static_cast<std::size_t>(me()) ? round : round - 1);
    }
    a.end();
    for (std::size_t n = 0; n < count; ++n) REQUIRE_EQUAL(a.word_at(300 + n), round);
    barrier();
  }
}

/// Without the check: a copy that is here stays as it is as long as nothing synchronises.
void own_copies() {
  const area a = make_area("own copies", page, page, QUIRE_PLACE_NODE);
  volatile word* const words = a.words();
  const auto mine = static_cast<std::size_t>(me());
  word sum = 0;
  for (std::size_t n = 0; n < 100; ++n) sum += words[n];
  REQUIRE_EQUAL(sum, 0);
  a.begin(0);
  const auto before = counters();
  for (word i = 1; i <= 20'000; ++i) words[mine] = i;
  const auto after = counters();
  REQUIRE_EQUAL(after.read_faults + after.write_faults, before.read_faults + before.write_faults);
  if (me() != nodes() - 1) {  // which is home
    for (std::size_t n = 0; n < 100; ++n) {
      if (n != mine) REQUIRE_EQUAL(words[n], 0);
    }
  }
  a.end();
  for (int n = 0; n < nodes(); ++n) REQUIRE_EQUAL(words[n], 20'000);
}

/// Each write is for one byte; whoever writes the same one is found.
void overlaps(const char* name, std::size_t unit, quire_placement placement) {
  const area a = make_area(name, 24 * unit, unit, placement);
  const auto count = static_cast<std::uint64_t>(nodes());
  random_numbers draw(unit + static_cast<word>(placement));  // the same on all nodes
  std::vector<byte> before(a.size);
  const int rounds = minipage_bytes != 0 && unit != page ? 8 : 40;  // of as many as 5,760 minipages
  for (int round = 0; round < rounds; ++round) {
    // Some overlaps, among many writes next to each other.
    struct planned {
      std::size_t at;
      int a, b;
    };
    std::vector<planned> plan;
    const std::uint64_t wanted = count < 2 ? 0 : draw.below(4);
    for (std::uint64_t i = 0; i < wanted; ++i) {
      const auto x = static_cast<int>(draw.below(count));
      const auto y = static_cast<int>((static_cast<std::uint64_t>(x) + 1 + draw.below(count - 1)) % count);
      plan.push_back({draw.below(a.size), std::min(x, y), std::max(x, y)});
    }
    const auto owner_of = [&](std::size_t i) {
      return static_cast<int>(mix(i / 5 + static_cast<word>(round)) % (count + 6));
    };
    const auto planned_at = [&](std::size_t i) {
      return std::any_of(plan.begin(), plan.end(), [&](const planned& p) { return p.at == i; });
    };
    a.begin(QUIRE_BLOCK_CHECK);
    const std::size_t step = unit == page ? 3 : 61;
    for (std::size_t i = static_cast<std::size_t>(round) % step; i < a.size; i += step) {
      if (owner_of(i) == me() && !planned_at(i)) a.at(i) = static_cast<byte>(before[i] + 1);
    }
    for (const planned& p : plan) {
      // One value or two; both change it.
      if (me() == p.a) a.at(p.at) = static_cast<byte>(before[p.at] + 1);
      if (me() == p.b) a.at(p.at) = static_cast<byte>(before[p.at] + 1 + round % 2);
    }
    // A byte that gets the value it had is not changed.
    if (count > 1) {
      const std::size_t same = draw.below(a.size);
      if (!planned_at(same) && me() == 1) a.at(same) = a.at(same);
    }
    if (round % 5 == 4) barrier();  // what is sent early counts once
    quire_overlap found{};
    const quire_status got = quire_block_end(a.region, &found);
    REQUIRE_EQUAL(got, plan.empty() ? QUIRE_OK : QUIRE_OVERLAP);
    if (plan.empty()) {
      REQUIRE(found.address == nullptr && found.node_a == -1 && found.node_b == -1);
    } else {
      const auto lowest = std::min_element(plan.begin(), plan.end(), [](const planned& x, const planned& y) {
        return x.at != y.at ? x.at < y.at : x.a != y.a ? x.a < y.a : x.b < y.b;
      });
      REQUIRE_EQUAL(a.offset_of(found.address), lowest->at);
      REQUIRE_EQUAL(found.node_a, lowest->a);
      REQUIRE_EQUAL(found.node_b, lowest->b);
    }
    for (std::size_t i = 0; i < a.size; ++i) {
      const byte now = a.at(i);
      const bool written =
          i % step == static_cast<std::size_t>(round) % step && owner_of(i) < nodes() && !planned_at(i);
      if (planned_at(i)) {
        REQUIRE(now == static_cast<byte>(before[i] + 1) || now == static_cast<byte>(before[i] + 2));
      } else {
        REQUIRE_EQUAL(now, static_cast<byte>(before[i] + (written ? 1 : 0)));
      }
      before[i] = now;
    }
    barrier();
  }
}

/// Each node writes stretches of its own, and says so beforehand: nobody makes a twin, and what is next to them is left
/// alone.
void declared(const char* name, std::size_t unit, quire_placement placement, unsigned flags) {
  const area a = make_area(name, 200 * 1024, unit, placement);
  const auto count = static_cast<std::size_t>(nodes());
  std::vector<byte> expected(a.size);
  for (std::size_t round = 1; round <= 6; ++round) {
    const std::size_t stretch = round % 2 == 0 ? a.size / count / 3 + 77 : 700 + 13 * round;
    const auto owner_of = [&](std::size_t i) { return (i / stretch + round) % count; };
    a.begin(flags);
    const auto before = counters();
    for (std::size_t first = 0; first < a.size; first += stretch) {
      if (owner_of(first) != static_cast<std::size_t>(me())) continue;
      const std::size_t bytes = std::min(stretch, a.size - first), half = bytes / 2;
      REQUIRE_OK(quire_block_declare(const_cast<const byte*>(a.bytes) + first + half, bytes - half));
      REQUIRE_OK(quire_block_declare(const_cast<const byte*>(a.bytes) + first, round % 3 == 0 ? half + 1 : half));
    }
    for (std::size_t i = 0; i < a.size; ++i) {
      if (owner_of(i) != static_cast<std::size_t>(me()) || mix(i / 9000 + round) % 3 == 0) continue;
      REQUIRE_EQUAL(a.at(i), expected[i]);
      a.at(i) = static_cast<byte>(mix(i * 10 + round));
    }
    if (round % 3 == 2) barrier();  // what is written afterwards comes too
    for (std::size_t i = 0; i < a.size; i += 101) {
      if (owner_of(i) == static_cast<std::size_t>(me())) a.at(i) = static_cast<byte>(round);
    }
    // A composed page asks for all its units, also those of which nothing was declared.
    if (detector != QUIRE_DETECT_SCAN && minipage_bytes == 0) REQUIRE_EQUAL(counters().twins, before.twins);
    a.end();
    for (std::size_t i = 0; i < a.size; ++i) {
      if (mix(i / 9000 + round) % 3 != 0) expected[i] = static_cast<byte>(mix(i * 10 + round));
      if (i % 101 == 0) expected[i] = static_cast<byte>(round);
      REQUIRE_EQUAL(a.at(i), expected[i]);
    }
    barrier();
  }
}

/// What was declared and not written takes nothing from others, if the block is checked; what both write is found.
void declared_overlaps() {
  if (nodes() < 2) return;
  const area a = make_area("declared overlaps", 4 * page, page, QUIRE_PLACE_MODULO);
  for (std::size_t u = 0; u < 4; ++u) {
    for (int round = 0; round < 2; ++round) {
      volatile byte* const at = a.bytes + u * page;
      const byte before = at[1000];
      barrier();
      a.begin(QUIRE_BLOCK_CHECK);
      if (me() == 0) {
        REQUIRE_OK(quire_block_declare(const_cast<const byte*>(at) + 100, 2000));
        at[100] = static_cast<byte>(before + 1);
        at[1001] = static_cast<byte>(before + 1);
        if (round == 1) at[1000] = static_cast<byte>(before + 1);
      }
      if (me() == 1) {
        at[1000] = static_cast<byte>(before + 1);
        at[99] = static_cast<byte>(before + 1);
        at[2100] = static_cast<byte>(before + 1);
      }
      quire_overlap found{};
      REQUIRE_STATUS(quire_block_end(a.region, &found), round == 1 ? QUIRE_OVERLAP : QUIRE_OK);
      if (round == 1) {
        REQUIRE_EQUAL(a.offset_of(found.address), u * page + 1000);
        REQUIRE(found.node_a == 0 && found.node_b == 1);
      }
      for (const std::size_t i : {99, 100, 1000, 1001, 2100}) REQUIRE_EQUAL(at[i], static_cast<byte>(before + 1));
      barrier();
    }
  }
}

/// A declaration by the view of a minipage reaches to its end, and concerns no other.
void declared_minipages(unsigned flags) {
  const area a = make_area("declared minipages " + std::to_string(flags), 2 * page, page, QUIRE_PLACE_MODULO);
  const std::size_t each = page / minipage_bytes;
  const auto fine = [&](std::size_t i) {
    void* at = nullptr;
    REQUIRE_OK(
        quire_view(const_cast<const byte*>(a.bytes) + i / each * page + i % each * minipage_bytes, QUIRE_FINE, &at));
    return static_cast<volatile word*>(at);
  };
  for (word round = 1; round <= 4; ++round) {
    a.begin(flags);
    for (std::size_t i = 0; i < 2 * each; ++i) {
      if ((i + round) % static_cast<std::size_t>(nodes()) != static_cast<std::size_t>(me())) continue;
      void* const at = const_cast<word*>(fine(i));
      std::size_t bytes = 0;
      REQUIRE_OK(quire_minipage_of(at, nullptr, &bytes));
      REQUIRE_STATUS(quire_block_declare(at, bytes + 1), QUIRE_BAD_ADDRESS);
      REQUIRE_OK(quire_block_declare(at, bytes));
      const auto before = counters().twins;
      for (std::size_t w = 0; w < bytes / sizeof(word); ++w) fine(i)[w] = round * 100 + i + w;
      REQUIRE_EQUAL(counters().twins, before);
    }
    a.end();
    for (std::size_t i = 0; i < 2 * each; ++i) {
      for (std::size_t w = 0; w < minipage_bytes / sizeof(word); ++w) REQUIRE_EQUAL(fine(i)[w], round * 100 + i + w);
    }
    barrier();
  }
}

/// Right after a block every write is seen at once.
void strong_again() {
  const area a = make_area("strong", 3 * page, page, QUIRE_PLACE_MODULO);
  volatile word* const words = a.words();
  for (word round = 0; round < 5; ++round) {
    a.begin(round % 2 == 0 ? QUIRE_BLOCK_CHECK : 0);
    words[600 + static_cast<std::size_t>(me())] = round;
    a.end();
    for (word turn = 0; turn < 4; ++turn) {
      const word wanted = (round * 4 + turn) * static_cast<word>(nodes()) + static_cast<word>(me());
      while (words[0] != wanted) std::this_thread::yield();
      words[1200] = words[1200] + 1;
      words[0] = wanted + 1;
    }
    while (words[0] != (round + 1) * 4 * static_cast<word>(nodes())) std::this_thread::yield();
    barrier();
  }
  REQUIRE_EQUAL(words[1200], 20 * nodes());
}

/// After a block and before the next one, what a node writes is for those who synchronise with it to see, also in
/// copies that were here all the time; whoever was home before the block, and is after it.
void relaxed_again(unsigned flags, quire_placement placement) {
  constexpr std::size_t units = 12;
  const area a =
      make_area("relaxed " + std::to_string(flags) + std::to_string(placement), units * page, page, placement);
  const auto count = static_cast<word>(nodes()), mine = static_cast<word>(me());
  quire_mutex mutex{};
  if (me() == 0) REQUIRE_OK(quire_mutex_create(&mutex));
  REQUIRE_OK(quire_broadcast(&mutex, sizeof mutex, 0));
  word total = 0;
  for (word round = 1; round <= 12; ++round) {
    // Before the block each unit has one writer, and moves to it at the barrier.
    for (std::size_t u = 0; u < units; ++u) {
      if ((u + round) % count == mine) a.word_at(u * 512 + 100) = round * 100 + u;
    }
    barrier();
    a.begin(flags);
    for (std::size_t u = 0; u < units; ++u) {
      REQUIRE_EQUAL(a.word_at(u * 512 + 100), round * 100 + u);
      if ((u + round) % 4 == 0) continue;                                     // this unit nobody writes
      if ((u + round) % 4 == 1 && (u / 4 + round) % count != mine) continue;  // and this one, one node
      a.word_at(u * 512 + mine) = round * 1000 + u;
    }
    if (round % 3 == 0) barrier();
    a.end();
    for (std::size_t u = 0; u < units; ++u) {
      for (word n = 0; n < count; ++n) {
        if ((u + round) % 4 == 0) continue;
        if ((u + round) % 4 == 1 && (u / 4 + round) % count != n) continue;
        REQUIRE_EQUAL(a.word_at(u * 512 + n), round * 1000 + u);
      }
    }
    for (int i = 0; i < 3; ++i) {
      REQUIRE_OK(quire_mutex_lock(mutex));
      for (std::size_t u = 0; u < units; ++u) a.word_at(u * 512 + 200) = a.word_at(u * 512 + 200) + 1;
      REQUIRE_OK(quire_mutex_unlock(mutex));
    }
    barrier();
    total += 3 * count;
    for (std::size_t u = 0; u < units; ++u) REQUIRE_EQUAL(a.word_at(u * 512 + 200), total);
    barrier();
  }
  // It can be made sequential, and back.
  if (detector == QUIRE_DETECT_SCAN) return;
  REQUIRE_OK(quire_region_set_consistency(a.region, QUIRE_SEQUENTIAL));
  a.begin(flags);
  a.word_at(300 + mine) = 5;
  a.end();
  for (word n = 0; n < count; ++n) REQUIRE_EQUAL(a.word_at(300 + n), 5);
  REQUIRE_OK(quire_region_set_consistency(a.region, QUIRE_RELEASE));
}

/// Threads write words of their own all the while, in blocks and between them.
void under_load(unsigned flags) {
  const area a = make_area("load " + std::to_string(flags), 8 * page, page, QUIRE_PLACE_MODULO);
  volatile word* const words = a.words();
  constexpr int threads = 2;
  std::atomic<bool> stop{false};
  word own[threads] = {};
  std::vector<std::thread> all;
  for (int thread = 0; thread < threads; ++thread) {
    all.emplace_back([&, thread] {
      const auto mine = static_cast<std::size_t>(me() * threads + thread);
      while (!stop) {
        ++own[thread];
        for (std::size_t u = 0; u < 8; ++u) {
          REQUIRE_EQUAL(words[u * 512 + mine], own[thread] - 1);
          words[u * 512 + mine] = own[thread];
        }
      }
    });
  }
  for (int i = 0; i < 30; ++i) {
    a.begin(flags);
    if (i % 3 == 0) sleep_ms(1);
    a.end();
    if (i % 4 == 0) sleep_ms(1);
  }
  stop = true;
  for (auto& t : all) t.join();
  std::vector<std::int64_t> last(static_cast<std::size_t>(threads * nodes()));
  for (std::size_t i = 0; i < last.size(); ++i) {
    const bool mine = static_cast<int>(i) / threads == me();
    last[i] = mine ? static_cast<std::int64_t>(own[i % threads]) : 0;
    REQUIRE_OK(quire_reduce_i64(&last[i], 1, QUIRE_SUM));
    for (std::size_t u = 0; u < 8; ++u) REQUIRE_EQUAL(words[u * 512 + i], last[i]);
  }
}

void atomics(unsigned flags) {
  const area a = make_area("atomics " + std::to_string(flags), 2 * page, page, QUIRE_PLACE_MODULO);
  volatile word* const words = a.words();
  for (word round = 1; round <= 4; ++round) {
    a.begin(flags);
    for (int i = 0; i < 50; ++i) {
      REQUIRE_OK(quire_fetch_add(const_cast<word*>(words) + 5, 1, nullptr));
      words[512 + static_cast<std::size_t>(me())] = round;
    }
    a.end();
    REQUIRE_EQUAL(words[5], round * 50 * static_cast<word>(nodes()));
    for (int n = 0; n < nodes(); ++n) REQUIRE_EQUAL(words[512 + n], round);
    barrier();
  }
}

void bad_calls() {
  const area a = make_area("bad", 2 * page, page, QUIRE_PLACE_BLOCK),
             b = make_area("bad too", 2 * page, page, QUIRE_PLACE_BLOCK);
  quire_overlap overlap{};
  REQUIRE_STATUS(quire_block_end(a.region, &overlap), QUIRE_INVALID);
  REQUIRE(overlap.address == nullptr);
  REQUIRE_STATUS(quire_block_begin(a.region, 2), QUIRE_INVALID);
  REQUIRE_STATUS(quire_block_declare(const_cast<const byte*>(a.bytes), 10), QUIRE_INVALID);
  REQUIRE_STATUS(quire_block_declare(const_cast<const byte*>(a.bytes), 2 * unit_at_least(page) + 1), QUIRE_BAD_ADDRESS);
  REQUIRE_STATUS(quire_block_begin(quire_region{0}, 0), QUIRE_INVALID);
  REQUIRE_STATUS(quire_block_begin(quire_region{999}, 0), QUIRE_INVALID);
  a.begin(0);
  REQUIRE_STATUS(quire_block_begin(a.region, 0), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_set_consistency(a.region, QUIRE_SEQUENTIAL), QUIRE_INVALID);
  REQUIRE_STATUS(quire_region_set_consistency(a.region, QUIRE_RELEASE), QUIRE_INVALID);
  REQUIRE_STATUS(quire_block_end(b.region, nullptr), QUIRE_INVALID);
  REQUIRE_STATUS(quire_pin(const_cast<byte*>(a.bytes), 1, 0, nullptr), QUIRE_UNSUPPORTED);
  a.bytes[me()] = 3;
  b.begin(QUIRE_BLOCK_CHECK);  // two at a time
  b.bytes[me()] = 4;
  if (nodes() > 1) {
    REQUIRE_STATUS(quire_block_end(me() == 0 ? a.region : b.region, nullptr), QUIRE_INVALID);
    REQUIRE_STATUS(me() == 0 ? quire_block_end(a.region, nullptr) : quire_barrier_wait(quire_barrier{0}),
                   QUIRE_INVALID);
  }
  a.end();
  b.end();
  if (nodes() > 1) REQUIRE_STATUS(quire_block_begin(a.region, me() == 0 ? QUIRE_BLOCK_CHECK : 0), QUIRE_INVALID);
  for (int n = 0; n < nodes(); ++n) {
    REQUIRE_EQUAL(a.bytes[n], 3);
    REQUIRE_EQUAL(b.bytes[n], 4);
  }
  barrier();
  if (detector != QUIRE_DETECT_SCAN) {
    const bool sequential = consistency == QUIRE_SEQUENTIAL;
    REQUIRE_OK(quire_region_set_consistency(a.region, sequential ? QUIRE_RELEASE : QUIRE_SEQUENTIAL));
    a.begin(0);
    a.bytes[me()] = 5;
    a.end();
    for (int n = 0; n < nodes(); ++n) REQUIRE_EQUAL(a.bytes[n], 5);
  }
  int holder = 0;
  if (me() == 0) REQUIRE_OK(quire_pin(const_cast<byte*>(b.bytes), 1, -1, &holder));
  REQUIRE_STATUS(quire_block_begin(b.region, 0), QUIRE_BUSY);
  if (me() == 0) REQUIRE_OK(quire_unpin(const_cast<byte*>(b.bytes), 1));
  b.begin(0);
  b.end();
}

void run_all() {
  for (const unsigned flags : {0u, unsigned{QUIRE_BLOCK_CHECK}}) {
    const std::string how = flags == 0 ? "" : ", checked";
    section(("merge, blocks" + how).c_str(), [&] { merges(("m b" + how).c_str(), page, QUIRE_PLACE_BLOCK, flags); });
    section(("merge, one home, 16 KiB" + how).c_str(),
            [&] { merges(("m n" + how).c_str(), 4 * page, QUIRE_PLACE_NODE, flags); });
    section(("merge, first touch" + how).c_str(),
            [&] { merges(("m f" + how).c_str(), page, QUIRE_PLACE_FIRST_TOUCH, flags); });
    section(("declared, blocks" + how).c_str(),
            [&] { declared(("d b" + how).c_str(), page, QUIRE_PLACE_BLOCK, flags); });
    section(("declared, 64 KiB" + how).c_str(),
            [&] { declared(("d l" + how).c_str(), 16 * page, QUIRE_PLACE_MODULO, flags); });
    if (minipage_bytes != 0) section(("declared by minipages" + how).c_str(), [&] { declared_minipages(flags); });
    section(("atomic operations" + how).c_str(), [&] { atomics(flags); });
    section(("under load" + how).c_str(), [&] { under_load(flags); });
  }
  section("isolation, modulo", [] { isolation(QUIRE_PLACE_MODULO); });
  section("isolation, one home", [] { isolation(QUIRE_PLACE_NODE); });
  section("own copies", own_copies);
  section("overlaps, modulo", [] { overlaps("o modulo", page, QUIRE_PLACE_MODULO); });
  section("overlaps, first touch, 64 KiB", [] { overlaps("o first", 16 * page, QUIRE_PLACE_FIRST_TOUCH); });
  section("declared overlaps", declared_overlaps);
  if (consistency == QUIRE_SEQUENTIAL) section("strong again", strong_again);
  for (const unsigned flags : {0u, unsigned{QUIRE_BLOCK_CHECK}}) {
    if (consistency == QUIRE_SEQUENTIAL) break;
    const std::string how = flags == 0 ? "" : ", checked";
    section(("relaxed again, modulo" + how).c_str(), [&] { relaxed_again(flags, QUIRE_PLACE_MODULO); });
    section(("relaxed again, first touch" + how).c_str(), [&] { relaxed_again(flags, QUIRE_PLACE_FIRST_TOUCH); });
  }
  section("bad calls", bad_calls);
}

/// What is sent early, for want of twins, is one node's all the same.
void run_long() {
  for (const unsigned flags : {0u, unsigned{QUIRE_BLOCK_CHECK}}) {
    section(flags == 0 ? "few twins" : "few twins, checked", [&] {
      constexpr std::size_t units = 100;
      const area a = make_area("few " + std::to_string(flags), units * page, page, QUIRE_PLACE_MODULO);
      const auto mine = static_cast<std::size_t>(me());
      for (word round = 1; round <= 5; ++round) {
        a.begin(flags);
        for (word again = 0; again < 3; ++again) {
          for (std::size_t u = 0; u < units; ++u) {
            REQUIRE_EQUAL(a.words()[u * 512 + mine],
                          again == 0 ? (round - 1) * 10 + 2 * (round > 1) : round * 10 + again - 1);
            a.words()[u * 512 + mine] = round * 10 + again;
          }
        }
        a.end();
        for (std::size_t u = 0; u < units; ++u) {
          for (std::size_t n = 0; n < static_cast<std::size_t>(nodes()); ++n)
            REQUIRE_EQUAL(a.words()[u * 512 + n], round * 10 + 2);
        }
        barrier();
      }
    });
  }
}

/// Microseconds of a block in which every node writes every fourth word of a region of 4 MiB; and, where it says so, a
/// stretch of its own in each page.
void run_time() {
  const area a = make_area("time", 4 << 20, page, QUIRE_PLACE_BLOCK);
  for (const bool declares : {false, true}) {
    for (const unsigned flags : {0u, unsigned{QUIRE_BLOCK_CHECK}, 0u}) {
      const auto stretch = page / static_cast<std::size_t>(nodes());
      const double start = now_seconds();
      a.begin(flags);
      for (std::size_t u = 0; u < a.size / page; ++u) {
        volatile byte* const mine = a.bytes + u * page + static_cast<std::size_t>(me()) * stretch;
        if (declares) REQUIRE_OK(quire_block_declare(const_cast<const byte*>(mine), stretch));
        for (std::size_t i = 0; i < stretch; i += 8) *reinterpret_cast<volatile word*>(mine + i) = i;
      }
      const double written = now_seconds();
      a.end();
      if (me() != 0) continue;
      std::printf("%-9s %-8s writing %8.0f us, end %8.0f us\n", flags == 0 ? "unchecked" : "checked",
                  declares ? "declared" : "", (written - start) * 1e6, (now_seconds() - written) * 1e6);
    }
  }
  for (const unsigned flags : {0u, unsigned{QUIRE_BLOCK_CHECK}, 0u, unsigned{QUIRE_BLOCK_CHECK}}) {
    barrier();
    const double start = now_seconds();
    a.begin(flags);
    const double begun = now_seconds();
    for (std::size_t i = static_cast<std::size_t>(me()); i < a.size / sizeof(word); i += 4)
      a.words()[i] = a.words()[i] + 1;
    const double written = now_seconds();
    a.end();
    const double ended = now_seconds();
    if (me() == 0) {
      std::printf("%-9s begin %8.0f us, writing %8.0f us, end %8.0f us\n", flags == 0 ? "unchecked" : "checked",
                  (begun - start) * 1e6, (written - begun) * 1e6, (ended - written) * 1e6);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "", how = argc > 2 ? argv[2] : what;
  if (how == "release" || how == "scan") consistency = QUIRE_RELEASE;
  if (how == "scan") detector = QUIRE_DETECT_SCAN;
  if (what == "minipages") minipage_bytes = 272;
  return node_main(what == "long" ? run_long : what == "time" ? run_time : run_all);
}
