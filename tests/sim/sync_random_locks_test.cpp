// SPDX-License-Identifier: BSD-3-Clause
// Mutexes, conditions and reader-writer locks under random delays, reordering, time-outs and loads, with checkers:
// exclusion, nothing lost, everybody served, exactly one completion for a call.
#include <deque>
#include <map>

#include "sync_world.hpp"

namespace quire::sync::sync_random_locks_test {
namespace {

using op = operation;

/// What must hold of a mutex at every moment, as its threads see it.
struct mutex_checker {
  std::uint64_t id = 0;
  bool held = false;
  std::uint64_t taken = 0, timed_out = 0, busy = 0;
  void enter() {
    ASSERT_FALSE(held) << "two threads hold one mutex";
    held = true;
    ++taken;
  }
  void leave() { held = false; }
};

program use_mutex(world& w, mutex_checker& m, unsigned n, std::uint32_t thread, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    const auto way = w.rng().below(10);
    call c = make_call(op::mutex_lock, m.id, thread);
    c.try_only = way == 0;
    const auto got = co_await w.call(n, c, way >= 6 ? w.rng().below(60'000) + 1 : 0);
    if (got.status == QUIRE_OK) {
      m.enter();
      co_await w.pause(w.rng().below(4) == 0 ? 3'000 : 0);
      m.leave();
      const auto released = co_await w.call(n, make_call(op::mutex_unlock, m.id, thread));
      EXPECT_EQ(released.status, QUIRE_OK);
    } else if (got.status == QUIRE_BUSY) {
      EXPECT_EQ(way, 0u);
      ++m.busy;
    } else {
      EXPECT_EQ(got.status, QUIRE_TIMED_OUT);
      EXPECT_GE(way, 6u);
      ++m.timed_out;
    }
    co_await w.pause(w.rng().below(3) == 0 ? 20'000 : 500);
  }
  w.leave();
}

/// The home serves nodes in the order in which their requests come: between a node's request and its grant the token
/// moves at most once to each other node, and once more if it was on its way. (How long a node keeps it is in
/// is_valid.)
struct turn_checker {
  std::uint64_t moves = 0;
  std::map<unsigned, std::uint64_t> asked;
  void see(world& w, node_id to, const message& m) {
    if (kind_of(m.kind) == kind::lock_request && m.b == 0) asked[m.from.value()] = moves;
    if (kind_of(m.kind) == kind::lock_grant) {
      ++moves;
      if (const auto found = asked.find(to.value()); found != asked.end()) {
        EXPECT_LE(moves - found->second, w.nodes() + 1) << "a node waits out of turn";
        asked.erase(found);
      }
    }
  }
};

/// Times that a mutex was kept for a moment.
std::uint64_t mutex_run(std::uint64_t seed, unsigned nodes, unsigned rounds) {
  world w(seed, nodes, order::kept);
  mutex_checker m{.id = make_object(w, static_cast<unsigned>(seed % nodes), op::mutex_create)};
  turn_checker turns;
  w.on_message = [&](node_id to, const message& msg) { turns.see(w, to, msg); };
  unsigned programs = 0;
  for (unsigned n = 0; n < nodes; ++n) {
    const auto threads = nodes > 100 ? 1 : w.rng().below(4);
    for (std::uint32_t t = 0; t < threads; ++t, ++programs) use_mutex(w, m, n, t, rounds);
  }
  w.run(programs);
  EXPECT_EQ(w.tokens_of(m.id), 1u) << w.net().trace();
  return w.lingers;
}

TEST(mutex, random_runs) {
  std::uint64_t lingers = 0;
  for_seeds(1, 1500, [&](std::uint64_t seed) { lingers += mutex_run(seed, nodes_of(seed), 12); });
  EXPECT_GT(lingers, 0u);
}

TEST(mutex, a_thousand_nodes) {
  for_seeds(1, 4, [](std::uint64_t seed) { mutex_run(seed, 1000, 2); });
}

TEST(mutex, many_threads_of_few_nodes_all_get_through) {
  for_seeds(1, 40, [](std::uint64_t seed) {
    world w(seed, 3, order::kept);
    mutex_checker m{.id = make_object(w, 0, op::mutex_create)};
    unsigned programs = 0;
    for (unsigned n = 0; n < 3; ++n) {
      for (std::uint32_t t = 0; t < 30; ++t, ++programs) use_mutex(w, m, n, t, 6);
    }
    w.run(programs);
  });
}

/// Producers and consumers over one bounded buffer: a lost notify would leave some of them waiting for ever.
struct buffer {
  std::uint64_t mutex = 0, not_empty = 0, not_full = 0;
  std::deque<std::uint64_t> items;
  std::uint64_t produced = 0, to_consume = 0, sum_in = 0, sum_out = 0;
  bool held = false;
  bool broadcast = false;
  void enter() {
    ASSERT_FALSE(held) << "two threads hold one mutex";
    held = true;
  }
};

program produce(world& w, buffer& b, unsigned n, std::uint32_t thread, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    co_await w.call(n, make_call(op::mutex_lock, b.mutex, thread));
    b.enter();
    while (b.items.size() >= 2) {
      b.held = false;
      const time_ns limit = w.rng().below(3) == 0 ? 30'000 : 0;
      const auto woken = co_await w.call(n, make_call(op::condition_wait, b.not_full, thread, b.mutex), limit);
      EXPECT_TRUE(woken.status == QUIRE_OK || (limit != 0 && woken.status == QUIRE_TIMED_OUT));
      b.enter();
    }
    b.items.push_back(++b.produced);
    b.sum_in += b.produced;
    const op notify = b.broadcast ? op::condition_notify_all : op::condition_notify_one;
    const bool while_held = w.rng().below(2) == 0;
    if (while_held) co_await w.call(n, make_call(notify, b.not_empty, thread));
    b.held = false;
    co_await w.call(n, make_call(op::mutex_unlock, b.mutex, thread));
    if (!while_held) co_await w.call(n, make_call(notify, b.not_empty, thread));
    co_await w.pause(5'000);
  }
  w.leave();
}

program consume(world& w, buffer& b, unsigned n, std::uint32_t thread) {
  for (;;) {
    co_await w.call(n, make_call(op::mutex_lock, b.mutex, thread));
    b.enter();
    while (b.items.empty() && b.to_consume != 0) {
      b.held = false;
      const time_ns limit = w.rng().below(3) == 0 ? 30'000 : 0;
      const auto woken = co_await w.call(n, make_call(op::condition_wait, b.not_empty, thread, b.mutex), limit);
      EXPECT_TRUE(woken.status == QUIRE_OK || (limit != 0 && woken.status == QUIRE_TIMED_OUT));
      b.enter();
    }
    const bool more = b.to_consume != 0;
    if (more) {
      b.sum_out += b.items.front();
      b.items.pop_front();
      --b.to_consume;
    }
    const bool last = b.to_consume == 0;
    b.held = false;
    co_await w.call(n, make_call(op::mutex_unlock, b.mutex, thread));
    co_await w.call(n, make_call(op::condition_notify_one, b.not_full, thread));
    if (last) co_await w.call(n, make_call(op::condition_notify_all, b.not_empty, thread));
    if (!more) break;
  }
  w.leave();
}

void buffer_run(std::uint64_t seed, unsigned nodes, unsigned items) {
  world w(seed, nodes, order::kept);
  const auto somewhere = [&] { return static_cast<unsigned>(w.rng().below(nodes)); };
  buffer b;
  b.mutex = make_object(w, somewhere(), op::mutex_create);
  b.not_empty = make_object(w, somewhere(), op::condition_create);
  b.not_full = make_object(w, somewhere(), op::condition_create);
  b.broadcast = seed % 5 == 0;
  const unsigned producers = 1 + static_cast<unsigned>(w.rng().below(5)),
                 consumers = 1 + static_cast<unsigned>(w.rng().below(5));
  b.to_consume = std::uint64_t{producers} * items;
  for (unsigned i = 0; i < producers; ++i) produce(w, b, somewhere(), i, items);
  for (unsigned i = 0; i < consumers; ++i) consume(w, b, somewhere(), 100 + i);
  w.run(producers + consumers);
  EXPECT_EQ(b.sum_in, b.sum_out);
  EXPECT_TRUE(b.items.empty());
}

TEST(condition, bounded_buffer_loses_no_notify) {
  for_seeds(1, 1500, [](std::uint64_t seed) { buffer_run(seed, nodes_of(seed), 8); });
}

TEST(condition, bounded_buffer_on_a_thousand_nodes) {
  for_seeds(1, 10, [](std::uint64_t seed) { buffer_run(seed, 1000, 20); });
}

struct rwlock_checker {
  std::uint64_t id = 0;
  unsigned readers = 0, most_readers = 0;
  bool writing = false;
};

program use_rwlock(world& w, rwlock_checker& l, unsigned n, std::uint32_t thread, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    const bool write = w.rng().below(4) == 0;
    const auto way = w.rng().below(10);
    call c = make_call(write ? op::rwlock_write_lock : op::rwlock_read_lock, l.id, thread);
    c.try_only = way == 0;
    const auto got = co_await w.call(n, c, way >= 6 ? w.rng().below(80'000) + 1 : 0);
    if (got.status == QUIRE_OK) {
      EXPECT_FALSE(l.writing) << "somebody goes in beside a writer";
      if (write) {
        EXPECT_EQ(l.readers, 0u) << "a writer goes in beside readers";
        l.writing = true;
      } else {
        l.most_readers = std::max(l.most_readers, ++l.readers);
      }
      co_await w.pause(8'000);
      if (write) {
        l.writing = false;
      } else {
        --l.readers;
      }
      const auto released = co_await w.call(n, make_call(op::rwlock_unlock, l.id, thread));
      EXPECT_EQ(released.status, QUIRE_OK);
    } else {
      EXPECT_EQ(got.status, way == 0 ? QUIRE_BUSY : QUIRE_TIMED_OUT);
      EXPECT_TRUE(way == 0 || way >= 6);
    }
  }
  w.leave();
}

unsigned rwlock_run(std::uint64_t seed, unsigned nodes, unsigned rounds) {
  world w(seed, nodes, order::any);
  rwlock_checker l{.id = make_object(w, static_cast<unsigned>(seed % nodes), op::rwlock_create)};
  unsigned programs = 0;
  for (unsigned n = 0; n < nodes; ++n) {
    const auto threads = nodes > 100 ? 1 : w.rng().below(4);
    for (std::uint32_t t = 0; t < threads; ++t, ++programs) use_rwlock(w, l, n, t, rounds);
  }
  w.run(programs);
  return l.most_readers;
}

TEST(rwlock, random_runs) {
  unsigned most = 0;
  for_seeds(1, 1000, [&](std::uint64_t seed) { most = std::max(most, rwlock_run(seed, nodes_of(seed), 10)); });
  EXPECT_GT(most, 1u);  // readers do share
}

TEST(rwlock, a_thousand_nodes) {
  for_seeds(1, 4, [](std::uint64_t seed) { rwlock_run(seed, 1000, 2); });
}

}  // namespace
}  // namespace quire::sync::sync_random_locks_test
