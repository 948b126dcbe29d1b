// SPDX-License-Identifier: BSD-3-Clause
// Contract of double faults (KOAN): a node that reads a unit and then writes it faults once and not twice, by advice,
// and where units have shown the pattern; a unit that is only read is not fetched for writing, and one that is no
// longer written soon is not any more. With the argument "off" (QUIRE_LEARN_WRITES=0) only by advice. Read-ahead is
// off, so that the numbers are known; with "ahead" or "ahead_off" it is on, for sweeps.
#include <cstdlib>
#include <string_view>

#include "apart.hpp"
#include "node.hpp"

using namespace quire::test;

namespace {

constexpr std::size_t unit_bytes = 4096, unit_words = unit_bytes / sizeof(std::uint64_t), units = 32;
bool learns = true;

/// Forces a load and a store, one after the other.
void update(std::uint64_t& word) {
  auto& there = const_cast<volatile std::uint64_t&>(word);
  const std::uint64_t before = there;
  there = before + 1;
}
std::uint64_t look(const std::uint64_t& word) { return const_cast<const volatile std::uint64_t&>(word); }

struct cost {
  std::uint64_t requests = 0, local = 0, messages = 0, exclusive = 0, doubles = 0;
};
/// What `body` cost this node.
template <class F>
cost cost_of(F body) {
  const auto a = counters();
  body();
  const auto b = counters();
  return {b.read_faults + b.write_faults + b.upgrade_faults - a.read_faults - a.write_faults - a.upgrade_faults,
          b.local_faults - a.local_faults, b.messages_sent - a.messages_sent, b.exclusive_reads - a.exclusive_reads,
          b.double_faults - a.double_faults};
}
void add(cost& sum, const cost& c) {
  sum.requests += c.requests;
  sum.local += c.local;
  sum.messages += c.messages;
  sum.exclusive += c.exclusive;
  sum.doubles += c.doubles;
}
void tell(const char* what, const cost& c, std::size_t accesses) {
  const auto each = [&](std::uint64_t n) { return static_cast<double>(n) / static_cast<double>(accesses); };
  std::printf("  %-34s per unit: %.2f requests, %.2f local faults, %.2f messages sent\n", what, each(c.requests),
              each(c.local), each(c.messages));
}

/// Nodes 0 and 1 take turns to update all units. What node 1's turns cost after `warm_up` rounds.
cost turns(std::uint64_t* words, int rounds, int warm_up) {
  cost sum;
  for (int round = 0; round < rounds; ++round) {
    if (quire_node() == 0)
      for (std::size_t unit = 0; unit < units; ++unit) words[unit * unit_words] = look(words[unit * unit_words]) + 1;
    barrier();
    if (quire_node() == 1) {
      const cost c = cost_of([&] {
        for (std::size_t unit = 0; unit < units; ++unit) update(words[unit * unit_words]);
      });
      if (round >= warm_up) add(sum, c);
    }
    barrier();
  }
  for (std::size_t unit = 0; unit < units; ++unit)
    REQUIRE(look(words[unit * unit_words]) % static_cast<std::uint64_t>(2 * rounds) == 0);
  barrier();
  return sum;
}

std::uint64_t* make_region(const char* name) {
  auto* words = shared_region<std::uint64_t>(name, units * unit_bytes, region_options(unit_bytes, QUIRE_PLACE_NODE, 0));
  barrier();
  return words;
}

void read_then_write() {
  constexpr int rounds = 26, warm_up = 2;
  constexpr std::size_t all = units * (rounds - warm_up);
  auto* words = make_region("learned");
  const cost c = turns(words, rounds, warm_up);
  if (quire_node() != 1) return;
  tell(learns ? "learned" : "not learned", c, all);
  if (learns) {
    REQUIRE_EQUAL(c.requests, all);
    REQUIRE_EQUAL(c.messages, all);
    REQUIRE_EQUAL(c.exclusive, all);
    REQUIRE_EQUAL(c.doubles, 0);
    REQUIRE(c.local <= all / 5);  // one in six is a probe
  } else {
    REQUIRE_EQUAL(c.requests, 2 * all);
    REQUIRE_EQUAL(c.messages, 2 * all);
    REQUIRE_EQUAL(c.doubles, all);
    REQUIRE_EQUAL(c.exclusive, 0);
  }
}

void advised() {
  constexpr int rounds = 8;
  constexpr std::size_t all = units * rounds;
  auto* words = make_region("advised");
  if (quire_node() == 1) REQUIRE_OK(quire_advise(words, units * unit_bytes, QUIRE_WILL_WRITE));
  barrier();
  const cost c = turns(words, rounds, 0);
  if (quire_node() != 1) return;
  tell("advised", c, all);
  REQUIRE_EQUAL(c.requests, all);
  REQUIRE_EQUAL(c.messages, all);
  REQUIRE_EQUAL(c.local, 0);
  REQUIRE_EQUAL(c.exclusive, all);
  REQUIRE_OK(quire_advise(words, units * unit_bytes, QUIRE_NORMAL));
}

/// One writes, all others read: nothing is to be learned.
void read_sharing() {
  constexpr int rounds = 10;
  auto* words = make_region("shared");
  for (int round = 1; round <= rounds; ++round) {
    if (quire_node() == 0)
      for (std::size_t unit = 0; unit < units; ++unit) words[unit * unit_words] = static_cast<std::uint64_t>(round);
    barrier();
    if (quire_node() != 0) {
      const cost c = cost_of([&] {
        for (int again = 0; again < 3; ++again)
          for (std::size_t unit = 0; unit < units; ++unit) REQUIRE_EQUAL(look(words[unit * unit_words]), round);
      });
      REQUIRE_EQUAL(c.requests, units);
      REQUIRE_EQUAL(c.messages, units);
      REQUIRE_EQUAL(c.exclusive, 0);
    }
    barrier();
  }
}

/// What was updated in turns is only read from now on, by all: soon all have copies again.
void updates_that_end() {
  constexpr int rounds = 30, settled_after = 8;
  auto* words = make_region("ending");
  (void)turns(words, 6, 0);
  cost late;
  for (int round = 1; round <= rounds; ++round) {
    if (quire_node() == 0)
      for (std::size_t unit = 0; unit < units; ++unit) words[unit * unit_words] = static_cast<std::uint64_t>(round);
    barrier();
    for (int turn = 1; turn < quire_nodes(); ++turn) {
      if (turn == quire_node()) {
        const cost c = cost_of([&] {
          for (std::size_t unit = 0; unit < units; ++unit) REQUIRE_EQUAL(look(words[unit * unit_words]), round);
        });
        if (round > settled_after) add(late, c);
      }
      barrier();
    }
  }
  if (quire_node() == 0) return;
  REQUIRE_EQUAL(late.requests, units * (rounds - settled_after));
  REQUIRE_EQUAL(late.exclusive, 0);
  if (quire_node() == 1 && learns) REQUIRE(counters().exclusive_wasted >= units);
}

/// With read-ahead: a sweep over units that were never here before writes each of them after it has read it; then one
/// reads.
void sweeps() {
  constexpr std::size_t many = 2048;
  auto* words =
      shared_region<std::uint64_t>("sweeps", 2 * many * unit_bytes, region_options(unit_bytes, QUIRE_PLACE_NODE, 0));
  if (quire_node() == 0)
    for (std::size_t unit = 0; unit < 2 * many; ++unit) words[unit * unit_words] = unit + 1;
  barrier();
  if (quire_node() == 1) {
    const cost writes = cost_of([&] {
      for (std::size_t unit = 0; unit < many; ++unit) update(words[unit * unit_words]);
    });
    tell(learns ? "sweep that writes, learned" : "sweep that writes", writes, many);
    const cost reads = cost_of([&] {
      for (std::size_t unit = many; unit < 2 * many; ++unit) REQUIRE_EQUAL(look(words[unit * unit_words]), unit + 1);
    });
    tell("sweep that reads", reads, many);
    if (learns) {
      REQUIRE(writes.doubles < many / 20);
      REQUIRE(reads.exclusive < many / 2);  // the window that was on its way, and the next
    } else {
      REQUIRE(writes.doubles > many * 9 / 10);
      REQUIRE_EQUAL(writes.exclusive + reads.exclusive, 0);
    }
  }
  barrier();
  if (quire_node() == 0)
    for (std::size_t unit = 0; unit < 2 * many; ++unit)
      REQUIRE_EQUAL(words[unit * unit_words], unit + (unit < many ? 2 : 1));
}

}  // namespace

int main(int argc, char** argv) {
  keep_nodes_apart();
  const std::string_view what = argc > 1 ? argv[1] : "";
  const bool ahead = what == "ahead" || what == "ahead_off";
  learns = what != "off" && what != "ahead_off";
  ::setenv("QUIRE_READ_AHEAD", ahead ? "1" : "0", 1);
  ::setenv("QUIRE_LEARN_WRITES", learns ? "1" : "0", 1);
  return node_main([ahead] {
    if (ahead) return section("sweeps", sweeps);
    section("read, then write", read_then_write);
    section("advised", advised);
    section("read sharing", read_sharing);
    section("updates that end", updates_that_end);
  });
}
