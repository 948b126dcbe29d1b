// SPDX-License-Identifier: BSD-3-Clause
// Which outcomes programs with data races may see under release consistency, and which not. An outcome that is allowed
// must occur for some seed, or the protocol would be less lazy than it is meant to be, or the test blind; one that is
// forbidden must never.
//
// Every word lies in a unit of its own, whose home is node 0; the programs run on nodes 1 to 4. "warm": the reader has
// a copy from before.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <vector>

#include "sim/seeds.hpp"
#include "sim/whole/actor.hpp"

namespace quire::whole::whole_litmus_test {
namespace {

using sync::operation;
using outcome = std::vector<std::uint64_t>;
using testing::Contains;
using testing::Each;
using testing::Not;

constexpr std::uint64_t x = base_address, y = base_address + 4096;
/// Of a region with sequential consistency.
constexpr std::uint64_t flags_base = base_address + (std::uint64_t{2} << 20), f = flags_base, g = flags_base + 4096;

/// What the threads of one run share outside the simulated memory, and what one of them does, a moment after what it
/// did before.
struct stage {
  world& w;
  outcome& seen;
  std::uint64_t mutex = 0, semaphore = 0;

  void pause(actor& a, int times = 1) const {
    for (; times > 0; --times) w.sleep(a.draw.below(30'000));
  }
  std::uint64_t read(actor& a, std::uint64_t at) const {
    pause(a);
    return a.here.load(at);
  }
  void write(actor& a, std::uint64_t at, std::uint64_t value) const {
    pause(a);
    a.here.store(at, value);
  }
  void lock(actor& a) const {
    pause(a);
    a.must_call(operation::mutex_lock, mutex);
  }
  void unlock(actor& a) const {
    pause(a);
    a.must_call(operation::mutex_unlock, mutex);
  }
};
using part = void (*)(stage& s, actor& a);

world_options options_of(std::uint64_t seed) {
  world_options o;
  o.net.seed = seed;
  o.net.nodes = 5;
  o.net.straggler_percent = 20;
  o.net.straggler_delay = 40'000;
  o.net.reads_late = seed % 2 == 0;
  o.node.read_ahead = false;
  return o;
}

core::region_description two_units() {
  core::region_description about;
  about.id = 1;
  about.base = base_address;
  about.bytes = 2 * 4096;
  about.placement = QUIRE_PLACE_NODE;
  about.home = 0;
  about.consistency = QUIRE_RELEASE;
  return about;
}
/// `orders`: what they show is behind what was written before them.
core::region_description two_flags(bool orders) {
  core::region_description about = two_units();
  about.id = 2;
  about.base = flags_base;
  about.consistency = QUIRE_SEQUENTIAL;
  about.orders = orders ? 1 : 0;
  return about;
}

/// One thread a node, from node 1 on; `reads`: how many values an outcome has.
std::set<outcome> outcomes(const std::vector<part>& parts, std::size_t reads, bool orders = false) {
  std::set<outcome> all;
  for (const std::uint64_t seed : sim::seeds(1, 400, sim::looks_for::rare_outcomes)) {
    world w(options_of(seed));
    w.add_region(two_units());
    w.add_region(two_flags(orders));
    outcome seen(reads, ~std::uint64_t{0});
    stage s{w, seen};
    w.start(0, [&](node& here) {
      actor maker(w, here, 1, seed);
      s.mutex = maker.create(operation::mutex_create);
      s.semaphore = maker.create(operation::semaphore_create);
      for (unsigned i = 0; i < parts.size(); ++i) {
        w.start(i + 1, [&, i](node& at) {
          actor a(w, at, 1, sim::mix(seed * 8 + i));
          parts[i](s, a);
        });
      }
    });
    EXPECT_EQ(w.run(), "") << seed;
    all.insert(seen);
  }
  return all;
}

void write_x_then_y(stage& s, actor& a) {
  s.write(a, x, 1);
  s.write(a, y, 1);
}
void write_both_locked(stage& s, actor& a) {
  s.pause(a, 4);
  s.lock(a);
  s.write(a, x, 1);
  s.write(a, y, 1);
  s.unlock(a);
}
/// Takes its first look at x before, and at y where the home's content is.
void warm_x_then_y_x(stage& s, actor& a) {
  (void)s.read(a, x);
  s.pause(a, 8);
  s.seen[0] = s.read(a, y);
  s.seen[1] = s.read(a, x);
}
void locked_y_x(stage& s, actor& a) {
  (void)s.read(a, x);
  (void)s.read(a, y);
  s.lock(a);
  s.seen[0] = s.read(a, y);
  s.seen[1] = s.read(a, x);
  s.unlock(a);
}
/// Releases what was written on its node, and makes others give the lock away.
void passes_the_lock(stage& s, actor& a) {
  for (int i = 0; i < 4; ++i) {
    s.lock(a);
    s.unlock(a);
  }
}
/// What it writes leaves: it releases.
void write_x_then_y_and_release(stage& s, actor& a) {
  write_x_then_y(s, a);
  a.must_call(operation::semaphore_release, s.semaphore, 1);
}

TEST(whole_litmus, message_passing_without_synchronisation_reads_old_data) {
  const auto all = outcomes({write_x_then_y_and_release, warm_x_then_y_x}, 2);
  EXPECT_THAT(all, Contains(outcome{1, 0})) << "relaxed: the flag is new, the data is old";
  EXPECT_THAT(all, Contains(outcome{0, 0}));
}

TEST(whole_litmus, message_passing_under_a_lock_does_not) {
  const auto all = outcomes({write_both_locked, locked_y_x}, 2);
  EXPECT_THAT(all, Not(Contains(outcome{1, 0})));
  EXPECT_THAT(all, Not(Contains(outcome{0, 1})));
  EXPECT_THAT(all, Contains(outcome{1, 1}));
  EXPECT_THAT(all, Contains(outcome{0, 0}));
}

void write_x_read_y(stage& s, actor& a) {
  s.write(a, x, 1);
  s.seen[0] = s.read(a, y);
}
void write_y_read_x(stage& s, actor& a) {
  s.write(a, y, 1);
  s.seen[1] = s.read(a, x);
}
void write_x_read_y_locked(stage& s, actor& a) {
  s.lock(a);
  s.write(a, x, 1);
  s.unlock(a);
  s.lock(a);
  s.seen[0] = s.read(a, y);
  s.unlock(a);
}
void write_y_read_x_locked(stage& s, actor& a) {
  s.lock(a);
  s.write(a, y, 1);
  s.unlock(a);
  s.lock(a);
  s.seen[1] = s.read(a, x);
  s.unlock(a);
}

TEST(whole_litmus, store_buffering) {
  EXPECT_THAT(outcomes({write_x_read_y, write_y_read_x}, 2), Contains(outcome{0, 0}));
  const auto locked = outcomes({write_x_read_y_locked, write_y_read_x_locked}, 2);
  EXPECT_THAT(locked, Not(Contains(outcome{0, 0})));
  EXPECT_THAT(locked, Contains(outcome{1, 1}));
}

void count_x(stage& s, actor& a) {
  for (std::uint64_t i = 1; i <= 4; ++i) {
    s.lock(a);
    s.write(a, x, i);
    s.unlock(a);
  }
}
void watch_x(stage& s, actor& a) {
  for (std::size_t i = 0; i < 4; ++i) {
    s.seen[i] = s.read(a, x);
    s.lock(a);
    s.unlock(a);
  }
}
void watch_x_unsynchronised(stage& s, actor& a) {
  for (std::size_t i = 0; i < 4; ++i) s.seen[i] = s.read(a, x);
}

TEST(whole_litmus, one_location_never_goes_back) {
  const auto ascending = [](const outcome& o) { return std::is_sorted(o.begin(), o.end()); };
  const auto synchronised = outcomes({count_x, watch_x}, 4);
  EXPECT_THAT(synchronised, Each(testing::Truly(ascending)));
  EXPECT_THAT(synchronised, Contains(testing::Truly([](const outcome& o) { return o.front() != o.back(); })));
  const auto lazy = outcomes({count_x, watch_x_unsynchronised, passes_the_lock}, 4);
  EXPECT_THAT(lazy, Each(testing::Truly([](const outcome& o) { return o.front() == o.back(); })))
      << "who does not acquire keeps what it has";
}

void write_and_release(stage& s, actor& a, std::uint64_t at) {
  s.write(a, at, 1);
  a.must_call(operation::semaphore_release, s.semaphore, 1);
}
void write_x(stage& s, actor& a) { write_and_release(s, a, x); }
void write_y(stage& s, actor& a) { write_and_release(s, a, y); }
void read_x_then_y(stage& s, actor& a) {
  (void)s.read(a, y);
  s.pause(a, 6);
  s.seen[0] = s.read(a, x);
  s.seen[1] = s.read(a, y);
}
void read_y_then_x(stage& s, actor& a) {
  (void)s.read(a, x);
  s.pause(a, 6);
  s.seen[2] = s.read(a, y);
  s.seen[3] = s.read(a, x);
}

TEST(whole_litmus, independent_reads_of_independent_writes) {
  EXPECT_THAT(outcomes({write_x, write_y, read_x_then_y, read_y_then_x}, 4), Contains(outcome{1, 0, 1, 0}))
      << "relaxed: two readers disagree about the order of two writes";
}

void write_x_then_f(stage& s, actor& a) {
  s.write(a, x, 1);
  s.write(a, f, 1);
}
/// `x` is released too, at some time: without that it would never be seen.
void write_x_then_f_and_release(stage& s, actor& a) {
  write_x_then_f(s, a);
  a.must_call(operation::semaphore_release, s.semaphore, 1);
}
void write_x_then_add_to_f(stage& s, actor& a) {
  s.write(a, x, 1);
  s.pause(a);
  (void)a.operate(f, model::atomic_operation::add, 1);
}
void warm_x_then_f_x(stage& s, actor& a) {
  (void)s.read(a, x);
  s.pause(a, 8);
  s.seen[0] = s.read(a, f);
  s.seen[1] = s.read(a, x);
}
void warm_x_then_operate_on_f(stage& s, actor& a) {
  (void)s.read(a, x);
  s.pause(a, 2);
  s.seen[0] = a.operate(f, model::atomic_operation::add, 0);
  s.seen[1] = s.read(a, x);
}
void hand_f_on_in_g(stage& s, actor& a) {
  s.pause(a, 4);
  if (s.read(a, f) != 0) s.write(a, g, 1);
}
void warm_x_then_g_x(stage& s, actor& a) {
  (void)s.read(a, x);
  s.pause(a, 12);
  s.seen[0] = s.read(a, g);
  s.seen[1] = s.read(a, x);
}

TEST(whole_litmus, a_flag_of_a_region_that_orders_is_a_release_and_an_acquire) {
  EXPECT_THAT(outcomes({write_x_then_f_and_release, warm_x_then_f_x}, 2), Contains(outcome{1, 0}))
      << "a region that does not order";
  for (const part writer : {write_x_then_f, write_x_then_add_to_f}) {
    for (const part reader : {warm_x_then_f_x, warm_x_then_operate_on_f}) {
      const auto all = outcomes({writer, reader}, 2, true);
      EXPECT_THAT(all, Not(Contains(outcome{1, 0})));
      EXPECT_THAT(all, Contains(outcome{1, 1}));
    }
  }
}

TEST(whole_litmus, flags_of_a_region_that_orders_pass_on_what_others_wrote) {
  EXPECT_THAT(outcomes({write_x_then_f_and_release, hand_f_on_in_g, warm_x_then_g_x}, 2), Contains(outcome{1, 0}))
      << "a region that does not order";
  for (const part writer : {write_x_then_f, write_x_then_add_to_f}) {
    const auto all = outcomes({writer, hand_f_on_in_g, warm_x_then_g_x}, 2, true);
    EXPECT_THAT(all, Not(Contains(outcome{1, 0})));
    EXPECT_THAT(all, Contains(outcome{1, 1}));
  }
}

}  // namespace
}  // namespace quire::whole::whole_litmus_test
