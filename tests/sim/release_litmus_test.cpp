// SPDX-License-Identifier: BSD-3-Clause
// Which outcomes programs with data races may see under release consistency, and which not. An outcome that is allowed must occur for some
// seed, or the protocol would be less lazy than it is meant to be, or the test blind; one that is forbidden must never.
//
// Every word lies in a unit of its own, whose home is node 0; the programs run on nodes 1 to 4. "warm": the reader has a
// copy from before.
#include <gmock/gmock.h>

#include <set>

#include "sim/release_simulation.hpp"

namespace quire::sim {
namespace {

using sync::operation;
using word = release_cluster::word;
using outcome = std::vector<std::uint64_t>;
using testing::Contains;
using testing::Each;
using testing::Not;

constexpr word x = 0, y = 1;

/// What the threads of one run share outside the simulated memory.
struct stage {
  release_cluster& c;
  outcome& seen;
  std::uint64_t mutex = 0, semaphore = 0;
};
using actor = release_program (*)(stage& s, std::size_t self);

/// One thread a node, from node 1 on; `reads`: how many values an outcome has.
std::set<outcome> outcomes(std::vector<actor> actors, std::size_t reads, std::uint64_t all_seeds = 400) {
  std::set<outcome> all;
  for (const std::uint64_t seed : seeds(1, all_seeds, looks_for::rare_outcomes)) {
    network_options net;
    net.seed = seed;
    net.nodes = 5;
    net.straggler_percent = 20;
    net.straggler_delay = 40'000;
    net.reads_late = seed % 2 == 0;
    release_options o;
    o.nodes = 5;
    o.units = 2;
    o.words = 1;
    o.placement = model::placement::node;
    release_simulation run(net, o, {30'000, 0});
    outcome seen(reads, ~std::uint64_t{0});
    stage s{run.nodes(), seen, run.nodes().make_object(0, operation::mutex_create), run.nodes().make_object(0, operation::semaphore_create)};
    for (unsigned i = 0; i < actors.size(); ++i) {
      const std::size_t t = s.c.add_thread(i + 1);
      s.c.begin(t, actors[i](s, t));
    }
    EXPECT_EQ(run.run(false), "") << seed;
    all.insert(seen);
  }
  return all;
}

release_program write_x_then_y(stage& s, std::size_t self) {
  co_await s.c.pause(self);
  co_await s.c.write(self, x, 1);
  co_await s.c.write(self, y, 1);
  co_await s.c.call(self, operation::semaphore_release, s.semaphore, 1);
}
release_program write_both_locked(stage& s, std::size_t self) {
  for (int i = 0; i < 4; ++i) co_await s.c.pause(self);
  co_await s.c.call(self, operation::mutex_lock, s.mutex);
  co_await s.c.write(self, x, 1);
  co_await s.c.write(self, y, 1);
  co_await s.c.call(self, operation::mutex_unlock, s.mutex);
}
/// Takes its first look at x before, and y to where the home's content is.
release_program warm_x_then_y_x(stage& s, std::size_t self) {
  co_await s.c.read_anything(self, x);
  for (int i = 0; i < 8; ++i) co_await s.c.pause(self);
  s.seen[0] = co_await s.c.read_anything(self, y);
  s.seen[1] = co_await s.c.read_anything(self, x);
}
release_program locked_y_x(stage& s, std::size_t self) {
  co_await s.c.read_anything(self, x);
  co_await s.c.read_anything(self, y);
  co_await s.c.call(self, operation::mutex_lock, s.mutex);
  s.seen[0] = co_await s.c.read_anything(self, y);
  s.seen[1] = co_await s.c.read_anything(self, x);
  co_await s.c.call(self, operation::mutex_unlock, s.mutex);
}
/// Makes others give the lock away, and with it release what they wrote.
release_program passes_the_lock(stage& s, std::size_t self) {
  for (int i = 0; i < 4; ++i) {
    co_await s.c.pause(self);
    co_await s.c.call(self, operation::mutex_lock, s.mutex);
    co_await s.c.call(self, operation::mutex_unlock, s.mutex);
  }
}

TEST(release_litmus, message_passing_without_synchronisation_reads_old_data) {
  const auto all = outcomes({write_x_then_y, warm_x_then_y_x}, 2);
  EXPECT_THAT(all, Contains(outcome{1, 0})) << "relaxed: the flag is new, the data is old";
  EXPECT_THAT(all, Contains(outcome{0, 0}));
}

TEST(release_litmus, message_passing_under_a_lock_does_not) {
  const auto all = outcomes({write_both_locked, locked_y_x}, 2);
  EXPECT_THAT(all, Not(Contains(outcome{1, 0})));
  EXPECT_THAT(all, Not(Contains(outcome{0, 1})));
  EXPECT_THAT(all, Contains(outcome{1, 1}));
  EXPECT_THAT(all, Contains(outcome{0, 0}));
}

release_program write_x_read_y(stage& s, std::size_t self) {
  co_await s.c.write(self, x, 1);
  s.seen[0] = co_await s.c.read_anything(self, y);
}
release_program write_y_read_x(stage& s, std::size_t self) {
  co_await s.c.write(self, y, 1);
  s.seen[1] = co_await s.c.read_anything(self, x);
}
release_program write_x_read_y_locked(stage& s, std::size_t self) {
  for (const bool writes : {true, false}) {
    co_await s.c.call(self, operation::mutex_lock, s.mutex);
    if (writes) {
      co_await s.c.write(self, x, 1);
    } else {
      s.seen[0] = co_await s.c.read_anything(self, y);
    }
    co_await s.c.call(self, operation::mutex_unlock, s.mutex);
  }
}
release_program write_y_read_x_locked(stage& s, std::size_t self) {
  for (const bool writes : {true, false}) {
    co_await s.c.call(self, operation::mutex_lock, s.mutex);
    if (writes) {
      co_await s.c.write(self, y, 1);
    } else {
      s.seen[1] = co_await s.c.read_anything(self, x);
    }
    co_await s.c.call(self, operation::mutex_unlock, s.mutex);
  }
}

TEST(release_litmus, store_buffering) {
  EXPECT_THAT(outcomes({write_x_read_y, write_y_read_x}, 2), Contains(outcome{0, 0}));
  const auto locked = outcomes({write_x_read_y_locked, write_y_read_x_locked}, 2);
  EXPECT_THAT(locked, Not(Contains(outcome{0, 0})));
  EXPECT_THAT(locked, Contains(outcome{1, 1}));
}

release_program count_x(stage& s, std::size_t self) {
  for (std::uint64_t i = 1; i <= 4; ++i) {
    co_await s.c.call(self, operation::mutex_lock, s.mutex);
    co_await s.c.write(self, x, i);
    co_await s.c.call(self, operation::mutex_unlock, s.mutex);
    co_await s.c.pause(self);
  }
}
release_program watch_x(stage& s, std::size_t self) {
  for (std::size_t i = 0; i < 4; ++i) {
    s.seen[i] = co_await s.c.read_anything(self, x);
    co_await s.c.call(self, operation::mutex_lock, s.mutex);
    co_await s.c.call(self, operation::mutex_unlock, s.mutex);
    co_await s.c.pause(self);
  }
}
release_program watch_x_unsynchronised(stage& s, std::size_t self) {
  for (std::size_t i = 0; i < 4; ++i) {
    s.seen[i] = co_await s.c.read_anything(self, x);
    co_await s.c.pause(self);
  }
}

TEST(release_litmus, one_location_never_goes_back) {
  const auto ascending = [](const outcome& o) { return std::is_sorted(o.begin(), o.end()); };
  const auto synchronised = outcomes({count_x, watch_x}, 4);
  EXPECT_THAT(synchronised, Each(testing::Truly(ascending)));
  EXPECT_THAT(synchronised, Contains(testing::Truly([](const outcome& o) { return o.front() != o.back(); })));
  const auto lazy = outcomes({count_x, watch_x_unsynchronised, passes_the_lock}, 4);
  EXPECT_THAT(lazy, Each(testing::Truly([](const outcome& o) { return o.front() == o.back(); }))) << "who does not acquire keeps what it has";
}

release_program write_x(stage& s, std::size_t self) {
  co_await s.c.write(self, x, 1);
  co_await s.c.call(self, operation::semaphore_release, s.semaphore, 1);
}
release_program write_y(stage& s, std::size_t self) {
  co_await s.c.write(self, y, 1);
  co_await s.c.call(self, operation::semaphore_release, s.semaphore, 1);
}
release_program read_x_then_y(stage& s, std::size_t self) {
  co_await s.c.read_anything(self, y);
  for (int i = 0; i < 6; ++i) co_await s.c.pause(self);
  s.seen[0] = co_await s.c.read_anything(self, x);
  s.seen[1] = co_await s.c.read_anything(self, y);
}
release_program read_y_then_x(stage& s, std::size_t self) {
  co_await s.c.read_anything(self, x);
  for (int i = 0; i < 6; ++i) co_await s.c.pause(self);
  s.seen[2] = co_await s.c.read_anything(self, y);
  s.seen[3] = co_await s.c.read_anything(self, x);
}

TEST(release_litmus, independent_reads_of_independent_writes) {
  EXPECT_THAT(outcomes({write_x, write_y, read_x_then_y, read_y_then_x}, 4), Contains(outcome{1, 0, 1, 0}))
      << "relaxed: two readers disagree about the order of two writes";
}

}  // namespace
}  // namespace quire::sim
