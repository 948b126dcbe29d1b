// SPDX-License-Identifier: BSD-3-Clause
// What must not grow, and must not wait for ever, however long a program of whole nodes runs under release consistency.
#include <gtest/gtest.h>

#include <functional>

#include "protocol/release/node.hpp"
#include "sim/whole/actor.hpp"

namespace quire::whole::whole_bounds_test {
namespace {

using sync::operation;
constexpr auto add = model::atomic_operation::add;
constexpr unsigned units = 16, words = 4;  // words of a unit that are used

struct shape {
  unsigned nodes = 2, pages_of_a_unit = 1;
  std::uint64_t twin_pages = 4;
  std::uint64_t step_limit = 20'000'000;
};

struct bounded_world : world {
  explicit bounded_world(const shape& s) : world(options_of(s)), unit_bytes(s.pages_of_a_unit * std::uint64_t{4096}) {
    core::region_description about;
    about.id = 1;
    about.base = base_address;
    about.unit_bytes = static_cast<std::uint32_t>(unit_bytes);
    about.bytes = units * unit_bytes;
    about.consistency = QUIRE_RELEASE;
    about.placement = QUIRE_PLACE_BLOCK;
    add_region(about);
  }
  static world_options options_of(const shape& s) {
    world_options o;
    o.net.nodes = s.nodes;
    o.net.step_limit = s.step_limit;
    o.node.twin_bytes = s.twin_pages * 4096;
    return o;
  }
  [[nodiscard]] std::uint64_t word(std::uint64_t number) const {
    return base_address + number / words % units * unit_bytes + number % words * 8;
  }
  /// What there is at most on any node.
  void look() {
    for (unsigned n = 0; n < nodes(); ++n) {
      release::node& c = at(n).core().consistency;
      history = std::max(history, c.known().size());
      twins = std::max(twins, c.open().twins);
    }
  }
  /// Threads of all nodes, once `prepare` has run on node 0.
  void begin(unsigned threads, const std::function<void(actor&)>& prepare, const std::function<void(actor&)>& body) {
    start(0, [=, this](node& here) {
      actor maker(*this, here, 1, 1);
      prepare(maker);
      for (unsigned i = 0; i < threads; ++i) {
        start(i % nodes(), [=, this](node& there) {
          actor a(*this, there, 1 + i / nodes(), i);
          body(a);
        });
      }
    });
  }

  std::uint64_t unit_bytes;
  std::size_t history = 0;
  std::uint64_t twins = 0;
};

void lock_and_write(bounded_world& w, actor& a, std::uint64_t mutex, unsigned rounds) {
  for (unsigned i = 0; i < rounds && !w.failed(); ++i) {
    a.must_call(operation::mutex_lock, mutex);
    for (std::uint64_t k = 0; k < 8; ++k) {
      const std::uint64_t at = w.word((i + k) * words);
      a.write(at, a.read(at) + 1);
    }
    a.must_call(operation::mutex_unlock, mutex);
    w.look();
  }
}

/// Nodes take turns, each of which is an interval.
TEST(whole_bounds, without_barriers_the_notices_are_packed) {
  constexpr std::size_t limit = release::history::default_limit;
  constexpr unsigned nodes = 3, rounds = 4'000;
  bounded_world w({.nodes = nodes});
  std::vector<std::uint64_t> turns;
  const auto prepare = [&](actor& a) {
    for (unsigned n = 0; n < nodes; ++n) turns.push_back(a.create(operation::semaphore_create, n == 0 ? 1 : 0));
  };
  w.begin(nodes, prepare, [&](actor& a) {
    for (unsigned i = 0; i < rounds && !w.failed(); ++i) {
      a.must_call(operation::semaphore_acquire, turns[a.node_number()]);
      for (std::uint64_t k = 0; k < units; k += 2) a.write(w.word(k * words));  // every second unit: runs of one
      a.must_call(operation::semaphore_release, turns[(a.node_number() + 1) % nodes], 1);
      w.look();
    }
  });
  ASSERT_EQ(w.run(), "");
  for (unsigned n = 0; n < nodes; ++n) EXPECT_GT(w.at(n).core().consistency.known().packed(), 0u);
  // Every unit by every writer, packed, and as many again as may come before the next packing.
  EXPECT_LE(w.history, limit + limit / 2 + nodes * units);
  EXPECT_LE(w.twins, 4u + 1) << "more than the limit, by one for each thread that has just got its unit";
}

TEST(whole_bounds, with_barriers_old_notices_are_forgotten) {
  for (const unsigned nodes : {2u, 4u, 12u}) {
    bounded_world w({.nodes = nodes});
    w.begin(
        nodes, [](actor&) {},
        [&](actor& a) {
          for (unsigned i = 0; i < 60 && !w.failed(); ++i) {
            for (std::uint64_t k = 0; k < units * words; ++k) {
              if ((k + i / 3) % nodes == a.node_number()) a.write(w.word(k), i + 1);
            }
            a.must_call(operation::barrier_wait, 0);
            w.look();
          }
        });
    ASSERT_EQ(w.run(), "");
    EXPECT_LE(w.history, 4u * nodes * 17) << "a few epochs of all nodes";
    EXPECT_LE(w.twins, 4u + 1);
    for (unsigned n = 0; n < nodes; ++n) EXPECT_EQ(w.at(n).core().consistency.known().packed(), 0u);
  }
}

/// A unit that is larger than all twins may be: the threads that write it go on all the same.
TEST(whole_bounds, fewer_twins_than_a_unit_has_pages_keep_nobody_from_writing) {
  for (const unsigned pages : {2u, 16u, 512u}) {
    bounded_world w({.nodes = 2, .pages_of_a_unit = pages, .twin_pages = 1});
    std::uint64_t mutex = 0;
    w.begin(
        6, [&](actor& a) { mutex = a.create(operation::mutex_create); },
        [&](actor& a) { lock_and_write(w, a, mutex, 20); });
    ASSERT_EQ(w.run(), "") << pages;
    EXPECT_GT(w.twins, 0u);
    EXPECT_LE(w.twins, (release::newest_twins::most + 1) * pages);
  }
}

/// A release waits for the diffs before it, not for those after it, or a busy node would hold others up as long as it
/// likes. Here a node goes on writing and releasing what nobody waits for, by atomic operations on a word whose home it
/// is.
TEST(whole_bounds, a_release_does_not_wait_for_diffs_that_came_after_it) {
  bounded_world w({.nodes = 3, .step_limit = 400'000});
  std::uint64_t mutex = 0;
  bool stop = false;
  w.begin(
      2, [&](actor& a) { mutex = a.create(operation::mutex_create); },
      [&](actor& a) {
        if (a.node_number() == 0) {
          for (std::uint64_t i = 1; !stop && !w.failed(); ++i) {
            a.write(w.word(units * words - 1), i);
            (void)a.operate(w.word(0), add, 1);
            w.sleep(500);
          }
          return;
        }
        w.sleep(1'000'000);
        a.must_call(operation::mutex_lock, mutex);
        stop = true;
        a.must_call(operation::mutex_unlock, mutex);
      });
  EXPECT_EQ(w.run(), "");
}

}  // namespace
}  // namespace quire::whole::whole_bounds_test
