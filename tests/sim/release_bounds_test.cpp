// SPDX-License-Identifier: BSD-3-Clause
// What must not grow, and must not wait for ever, however long a program runs under release consistency.
#include "release_programs.hpp"

namespace quire::sim {
namespace {

using word = release_cluster::word;
constexpr auto add = model::atomic_operation::add;

release_options options(unsigned nodes, std::size_t notice_limit) {
  release_options o;
  o.nodes = nodes;
  o.units = 16;
  o.words = 4;
  o.notice_limit = notice_limit;
  o.twin_limit = 4;
  return o;
}
network_options network_of(unsigned nodes) {
  network_options n;
  n.nodes = nodes;
  n.trace_length = 60;
  return n;
}

struct most {
  std::size_t history = 0;
  std::uint64_t twins = 0;
  void look(release_cluster& c) {
    for (unsigned n = 0; n < c.options().nodes; ++n) {
      history = std::max(history, c.node(n).known().size());
      twins = std::max(twins, c.twins(n));
    }
  }
};

release_program lock_and_write(release_cluster& c, std::size_t self, std::uint64_t mutex, unsigned rounds, most& seen) {
  for (unsigned i = 0; i < rounds; ++i) {
    co_await c.call(self, operation::mutex_lock, mutex);
    for (word k = 0; k < 6; ++k) {
      const word w = (i * 5 + k * 9) % c.words();
      co_await c.write(self, w, co_await c.read(self, w) + 1);
    }
    co_await c.call(self, operation::mutex_unlock, mutex);
    seen.look(c);
  }
}

TEST(release_bounds, with_locks_only_the_notices_are_packed) {
  release_simulation s(network_of(3), options(3, 100), {});
  release_cluster& c = s.nodes();
  const std::uint64_t mutex = c.make_object(0, operation::mutex_create);
  most seen;
  for (unsigned n = 0; n < 3; ++n) {
    const std::size_t t = c.add_thread(n);
    c.begin(t, lock_and_write(c, t, mutex, 600, seen));
  }
  ASSERT_EQ(s.run(false), "");
  // Every unit by every writer, packed, and as many again as may come before the next packing.
  EXPECT_LE(seen.history, 2u * 100 + 3 * 16);
  EXPECT_LE(seen.twins, 4u + 1) << "more than the limit, by one for each thread that has just got its unit";
}

release_program barriers_and_writes(release_cluster& c, std::size_t self, unsigned node, unsigned rounds, most& seen) {
  for (unsigned i = 0; i < rounds; ++i) {
    for (word w = 0; w < c.words(); ++w) {
      if ((w + i / 3) % c.options().nodes == node) co_await c.write(self, w, i + 1);
    }
    co_await c.call(self, operation::barrier_wait, 0);
    seen.look(c);
  }
}

TEST(release_bounds, with_barriers_old_notices_are_forgotten) {
  for (const unsigned nodes : {2u, 4u, 12u}) {
    release_simulation s(network_of(nodes), options(nodes, release::history::default_limit), {});
    release_cluster& c = s.nodes();
    most seen;
    for (unsigned n = 0; n < nodes; ++n) {
      const std::size_t t = c.add_thread(n);
      c.begin(t, barriers_and_writes(c, t, n, 60, seen));
    }
    ASSERT_EQ(s.run(true), "");
    EXPECT_LE(seen.history, 4u * nodes * 17) << "a few epochs of all nodes";
    EXPECT_LE(seen.twins, 4u + 1);
    for (unsigned n = 0; n < nodes; ++n) EXPECT_EQ(c.node(n).known().packed(), 0u);
  }
}

/// A unit that is larger than all twins may be: the threads that write it go on all the same.
TEST(release_bounds, fewer_twins_than_a_unit_has_pages_keep_nobody_from_writing) {
  for (const unsigned pages : {2u, 16u, 512u}) {
    release_options o = options(2, 100);
    o.twin_pages = pages;
    o.twin_limit = 1;
    release_simulation s(network_of(2), o, {});
    release_cluster& c = s.nodes();
    const std::uint64_t mutex = c.make_object(0, operation::mutex_create);
    most seen;
    for (unsigned i = 0; i < 6; ++i) {
      const std::size_t t = c.add_thread(i % 2);
      c.begin(t, lock_and_write(c, t, mutex, 60, seen));
    }
    ASSERT_EQ(s.run(false), "") << pages;
    EXPECT_GT(seen.twins, 0u);
    EXPECT_LE(seen.twins, release::newest_twins::most + 1);
  }
}

/// A node that goes on writing and releasing what nobody waits for, by atomic operations on a word whose home it is.
release_program never_quiet(release_cluster& c, std::size_t self, word far, word here, const bool& stop) {
  for (unsigned i = 1; !stop; ++i) {
    co_await c.write(self, far, i);
    co_await c.atomic(self, here, add, 1);
  }
}
release_program take_a_lock_later(release_cluster& c, std::size_t self, std::uint64_t mutex, bool& stop) {
  for (int i = 0; i < 300; ++i) co_await c.pause(self);
  co_await c.call(self, operation::mutex_lock, mutex);
  stop = true;
  co_await c.call(self, operation::mutex_unlock, mutex);
}

/// A release waits for the diffs before it, not for those after it, or a busy node would hold others up as long as it likes.
TEST(release_bounds, a_release_does_not_wait_for_diffs_that_came_after_it) {
  network_options net = network_of(2);
  net.step_limit = 200'000;
  release_options o = options(2, release::history::default_limit);
  release_simulation s(net, o, {500, 0});
  release_cluster& c = s.nodes();
  const std::uint64_t mutex = c.make_object(0, operation::mutex_create);
  bool stop = false;
  const std::size_t busy = c.add_thread(0), other = c.add_thread(1);
  c.begin(busy, never_quiet(c, busy, c.words() - 1, 0, stop));  // the first half of the units has its home on node 0
  c.begin(other, take_a_lock_later(c, other, mutex, stop));
  EXPECT_EQ(s.run(false), "");
}

}  // namespace
}  // namespace quire::sim
