// SPDX-License-Identifier: BSD-3-Clause
// Contract of quire_plan(): a phase that uses the same memory each time finds it there, with the right that it wants;
// one that uses other memory each time reads and writes the same values as without. What is used under a lock comes
// with it; a sweep of writes gets rights ahead of it. And of quire_spin(): threads that wait for a flag. Arguments:
// consistencies.
#include <quire/system.h>

#include <atomic>
#include <chrono>
#include <string_view>

#include "apart.hpp"
#include "node.hpp"

using namespace quire::test;

namespace {

using word = std::uint64_t;
const std::size_t page = unit_at_least(4096), page_words = page / sizeof(word), side = 24;

quire_region_options about(quire_consistency consistency) {
  quire_region_options o = region_options(page, QUIRE_PLACE_BLOCK);
  o.consistency = consistency;
  return o;
}

/// A barrier, and the phase behind it.
void next_phase(word key) {
  barrier();
  REQUIRE_OK(quire_plan(key));
}

int owner_of(std::size_t i) { return static_cast<int>(i) * quire_nodes() / static_cast<int>(side); }

/// A square of units: nodes own rows in one phase, and columns in the next. Each writes what it owns, once it has seen
/// what was written before.
void directions(quire_consistency consistency, const char* name) {
  auto* volatile words = shared_region<word>(name, side * side * page, about(consistency));
  constexpr word rounds = 12;
  quire_counters learned{};
  for (word round = 0; round < 2 * rounds; ++round) {
    next_phase(round % 2 + 1);
    if (round == rounds) learned = counters();
    for (std::size_t row = 0; row < side; ++row) {
      for (std::size_t column = 0; column < side; ++column) {
        if (owner_of(round % 2 == 0 ? row : column) != quire_node()) continue;
        volatile word& at = words[(row * side + column) * page_words + column];
        REQUIRE_EQUAL(word{at}, round);
        at = round + 1;
      }
    }
  }
  barrier();
  const auto now = counters();
  if (quire_nodes() == 1 || std::getenv("QUIRE_PLANS") != nullptr) return;
  REQUIRE(now.planned > learned.planned);
  const word asked = now.read_faults + now.write_faults - learned.read_faults - learned.write_faults;
  REQUIRE(asked * 2 < now.planned - learned.planned);
  REQUIRE(now.planned_unused * 2 < now.planned);
}

/// Under one key other units each time, and another node that writes them.
void anything(quire_consistency consistency, const char* name) {
  constexpr std::size_t units = 64;
  auto* volatile words = shared_region<word>(name, units * page, about(consistency));
  for (word round = 1; round <= 24; ++round) {
    next_phase(9);
    for (std::size_t u = 0; u < units; ++u) {
      const auto writer = [&](word r) { return static_cast<int>(mix(r * 1000 + u) % 7) % quire_nodes(); };
      if (writer(round) != quire_node()) continue;
      volatile word& at = words[u * page_words + round];
      REQUIRE_EQUAL(word{words[u * page_words + round - 1]}, round - 1);
      at = round;
    }
  }
  next_phase(0);
  for (std::size_t u = 0; u < units; ++u)
    for (word round = 1; round <= 24; ++round) REQUIRE_EQUAL(words[u * page_words + round], round);
  barrier();
}

/// Nodes hold a lock in turn, and count in the same units under it: they come with the lock. Under two locks that guard
/// parts of the same units, none comes.
void locks(quire_consistency consistency, const char* name, bool shares) {
  constexpr std::size_t units = 12;
  constexpr word rounds = 60;
  auto* volatile words = shared_region<word>(name, units * page, about(consistency));
  quire_mutex held[2] = {};
  if (quire_node() == 0) {
    for (quire_mutex& m : held) REQUIRE_OK(quire_mutex_create(&m));
  }
  REQUIRE_OK(quire_broadcast(held, sizeof held, 0));
  quire_counters learned{};
  const auto all = static_cast<word>(quire_nodes());
  for (word round = 0; round < rounds * all; ++round) {
    next_phase(0);
    if (round == 10 * all) learned = counters();
    if (round % all != static_cast<word>(quire_node())) continue;
    const std::size_t part = shares ? round / all % 2 : 0;
    REQUIRE_OK(quire_mutex_lock(held[part]));
    for (std::size_t u = 0; u < units; ++u) {
      volatile word& at = words[u * page_words + part];
      REQUIRE_EQUAL(word{at}, shares ? round / all / 2 * all + round % all : round);
      at = word{at} + 1;
    }
    REQUIRE_OK(quire_mutex_unlock(held[part]));
  }
  next_phase(0);
  const auto now = counters();
  const word planned = now.planned - learned.planned;
  const char* const detector = std::getenv("QUIRE_DETECT");
  const bool knows_threads = detector == nullptr || std::string_view(detector) != "thread";  // whose fault it is
  if (quire_nodes() == 1 || !knows_threads || std::getenv("QUIRE_LOCK_PLANS") != nullptr) {
    REQUIRE(planned == 0);
    return;
  }
  constexpr word uses = units * (rounds - 10);
  if (shares) {
    REQUIRE(planned * 4 < uses);
    return;
  }
  const word asked = now.read_faults + now.write_faults - learned.read_faults - learned.write_faults;
  REQUIRE(planned * 4 > uses);
  REQUIRE(asked * 4 < planned);
}

/// Each node sweeps over units whose homes it has: it gets the right to write many at a time, also to those that it
/// then leaves alone. Others read what was written, and what was not.
void write_ahead(quire_consistency consistency) {
  if (consistency != QUIRE_RELEASE) return;
  constexpr std::size_t units = 192;
  constexpr word rounds = 6;
  const auto all = static_cast<std::size_t>(quire_nodes()), me = static_cast<std::size_t>(quire_node());
  auto* volatile words = shared_region<word>("plans.writes", all * units * page, about(consistency));
  const auto end = [](word round) { return units - round * 7; };  // where the sweep stops
  quire_counters before{};
  for (word round = 1; round <= rounds; ++round) {
    next_phase(0);
    if (round == 2) before = counters();
    for (std::size_t u = 0; u < end(round); ++u) words[(me * units + u) * page_words] = round;
    next_phase(0);
    for (std::size_t n = 0; n < all; ++n) {
      for (std::size_t u = 0; u < units; ++u) {
        word last = round;
        while (last != 0 && u >= end(last)) --last;
        REQUIRE_EQUAL(word{words[(n * units + u) * page_words]}, last);
      }
    }
  }
  const auto now = counters();
  barrier();
  const word ahead = now.write_ahead_units - before.write_ahead_units, uses = (rounds - 1) * units;
  if (std::getenv("QUIRE_WRITE_AHEAD") != nullptr) {
    REQUIRE(now.write_ahead_units == 0);
  } else if (all > 1) {
    REQUIRE(ahead * 2 > uses);
    REQUIRE((now.local_faults - before.local_faults) * 2 < uses);
  }
}

/// Content on two nodes: what a node has sent to a backup it writes again, sweep after sweep, with few faults.
void written_again() {
  constexpr std::size_t units = 192;
  constexpr word rounds = 6;
  const auto all = static_cast<std::size_t>(quire_nodes()), me = static_cast<std::size_t>(quire_node());
  auto* volatile words = shared_region<word>("plans.again", all * units * page, about(QUIRE_SEQUENTIAL));
  quire_counters before{};
  for (word round = 1; round <= rounds; ++round) {
    if (round == 2) before = counters();
    for (std::size_t u = 0; u < units; ++u) words[(me * units + u) * page_words] = round;
    barrier();
  }
  const auto now = counters();
  for (std::size_t u = 0; u < all * units; ++u) REQUIRE_EQUAL(word{words[u * page_words]}, rounds);
  REQUIRE(now.replicas_sent - before.replicas_sent >= (rounds - 2) * units);
  REQUIRE((now.local_faults - before.local_faults) * 4 < (rounds - 1) * units);
  REQUIRE((now.write_ahead_units - before.write_ahead_units) * 2 > (rounds - 1) * units);
  barrier();
}

/// A region that has gone, and more phases than are kept.
void ends(quire_consistency consistency) {
  for (int times = 0; times < 6; ++times) {
    struct {
      quire_region region{};
      volatile word* words = nullptr;
    } made;
    if (quire_node() == 0) {
      const quire_region_options o = about(consistency);
      void* address = nullptr;
      REQUIRE_OK(quire_region_create(&o, 16 * page, &made.region));
      REQUIRE_OK(quire_region_range(made.region, &address, nullptr));
      made.words = static_cast<word*>(address);
    }
    REQUIRE_OK(quire_broadcast(&made, sizeof made, 0));
    next_phase(20);
    for (std::size_t u = 0; u < 16; ++u) REQUIRE_EQUAL(word{made.words[u * page_words]}, 0u);
    barrier();
    if (quire_node() == 0) REQUIRE_OK(quire_region_destroy(made.region));
  }
  next_phase(20);
  for (word key = 100; key < 9000; ++key) REQUIRE_OK(quire_plan(key));
  barrier();
}

/// Each node waits in turn for a number in memory that all write: who waits gives it away.
void flag(quire_consistency consistency) {
  if (consistency != QUIRE_SEQUENTIAL) return;
  auto* const turn = shared_region<std::atomic<word>>("plans.flag", page, about(consistency));
  constexpr word laps = 50;
  const auto me = static_cast<word>(quire_node()), all = static_cast<word>(quire_nodes());
  for (word lap = 0; lap < laps; ++lap) {
    while (turn->load() != lap * all + me) REQUIRE_OK(quire_spin());
    turn->store(lap * all + me + 1);
  }
  barrier();
  REQUIRE(turn->load() == laps * all);
}

/// A thread that waits in private memory looks for QUIRE_SPIN_US at most, and not where cores are short.
void looks() {
  quire_looking none{};
  REQUIRE(quire_may_look(100'000, &none) == 0 && none.since == 0);
  REQUIRE(quire_may_look(1, nullptr) == 0);
  quire_looking so_far{};
  const auto begin = std::chrono::steady_clock::now();
  while (quire_may_look(1, &so_far) != 0) REQUIRE(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  barrier();
}

}  // namespace

int main(int argc, char** argv) {
  keep_nodes_apart();
  REQUIRE_STATUS(quire_plan(1), QUIRE_NOT_STARTED);
  REQUIRE_STATUS(quire_spin(), QUIRE_NOT_STARTED);
  quire_looking too_early{};
  REQUIRE(quire_may_look(1, &too_early) == 0);
  return node_main([&] {
    if (argc > 1 && std::string_view(argv[1]) == "replicas") return section("written again", [] { written_again(); });
    const bool release = argc > 1 && std::string_view(argv[1]) == "release";
    const auto consistency = release ? QUIRE_RELEASE : QUIRE_SEQUENTIAL;
    section("directions", [&] { directions(consistency, "plans.directions"); });
    section("anything", [&] { anything(consistency, "plans.anything"); });
    section("locks", [&] { locks(consistency, "plans.lock", false); });
    section("locks of the same units", [&] { locks(consistency, "plans.locks", true); });
    section("write-ahead", [&] { write_ahead(consistency); });
    section("flag", [&] { flag(consistency); });
    section("looks", [] { looks(); });
    section("ends", [&] { ends(consistency); });
  });
}
