// SPDX-License-Identifier: BSD-3-Clause
// Semaphores, events, barriers and collectives under random delays, reordering and time-outs, with checkers; then all
// objects at once under destruction, garbage handles and a lost peer: every call ends, exactly once.
#include <cstring>

#include "sync_world.hpp"

namespace quire::sync::sync_random_objects_test {
namespace {

using op = operation;

struct semaphore_checker {
  std::uint64_t id = 0;
  std::uint64_t permits = 0;  ///< released so far, the first ones included
  std::uint64_t taken = 0;
};

program use_semaphore(world& w, semaphore_checker& s, unsigned n, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    const auto way = w.rng().below(10);
    call c = make_call(op::semaphore_acquire, s.id);
    c.try_only = way == 0;
    const auto got = co_await w.call(n, c, way >= 4 ? w.rng().below(60'000) + 1 : 0);
    if (got.status == QUIRE_OK) {
      ++s.taken;
      EXPECT_LE(s.taken, s.permits) << "more went in than there were permits";
      co_await w.pause(10'000);
      ++s.permits;
      const auto back = co_await w.call(n, make_call(op::semaphore_release, s.id, 0, 1));
      EXPECT_EQ(back.status, QUIRE_OK);
    } else {
      EXPECT_EQ(got.status, way == 0 ? QUIRE_BUSY : QUIRE_TIMED_OUT);
      EXPECT_TRUE(way == 0 || way >= 4);
    }
  }
  w.leave();
}

/// What is left in the semaphore, by taking it.
program drain(world& w, std::uint64_t id, std::uint64_t& left) {
  for (;; ++left) {
    const auto got = co_await w.call(0, make_try(op::semaphore_acquire, id));
    if (got.status != QUIRE_OK) break;
  }
  w.leave();
}

void semaphore_run(std::uint64_t seed, unsigned nodes, unsigned rounds) {
  world w(seed, nodes, order::any);
  const std::uint64_t initial = 1 + w.rng().below(4);
  semaphore_checker s{make_object(w, static_cast<unsigned>(seed % nodes), op::semaphore_create, initial), initial, 0};
  unsigned programs = 0;
  for (unsigned n = 0; n < nodes; ++n) {
    const auto threads = nodes > 100 ? 1 : 1 + w.rng().below(3);
    for (unsigned t = 0; t < threads; ++t, ++programs) use_semaphore(w, s, n, rounds);
  }
  w.run(programs);
  std::uint64_t left = 0;
  drain(w, s.id, left);
  w.run(programs + 1);
  EXPECT_EQ(left, initial) << "permits were lost or made";
}

TEST(semaphore, random_runs_keep_the_count) {
  for_seeds(1, 1200, [](std::uint64_t seed) { semaphore_run(seed, nodes_of(seed), 10); });
}

TEST(semaphore, a_thousand_nodes) {
  for_seeds(1, 5, [](std::uint64_t seed) { semaphore_run(seed, 1000, 2); });
}

/// Moments in which an event may have been set: from the call of a set to the end of a reset.
struct event_checker {
  std::uint64_t id = 0;
  unsigned sets = 0;  ///< calls of set so far
  unsigned maybe_set = 0;
};

program switch_event(world& w, event_checker& e, unsigned n, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    co_await w.pause(40'000);
    ++e.sets;
    ++e.maybe_set;
    co_await w.call(n, make_call(op::event_set, e.id));
    co_await w.pause(10'000);
    co_await w.call(n, make_call(op::event_reset, e.id));
    --e.maybe_set;
  }
  ++e.sets;
  ++e.maybe_set;
  co_await w.call(n, make_call(op::event_set, e.id));
  w.leave();
}

program await_event(world& w, event_checker& e, unsigned n, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    const unsigned sets = e.sets;
    const bool set_before = e.maybe_set != 0;
    const time_ns limit = w.rng().below(2) == 0 ? w.rng().below(60'000) + 1 : 0;
    const auto got = co_await w.call(n, make_call(op::event_wait, e.id), limit);
    if (got.status == QUIRE_OK) {
      EXPECT_TRUE(set_before || e.sets != sets) << "passed an event that nobody had set";
    } else {
      EXPECT_EQ(got.status, QUIRE_TIMED_OUT);
      EXPECT_NE(limit, 0u);
    }
    co_await w.pause(10'000);
  }
  w.leave();
}

TEST(event, random_runs) {
  for_seeds(1, 800, [](std::uint64_t seed) {
    const unsigned nodes = nodes_of(seed);
    world w(seed, nodes, order::any);
    event_checker e{.id = make_object(w, static_cast<unsigned>(seed % nodes), op::event_create)};
    switch_event(w, e, static_cast<unsigned>(w.rng().below(nodes)), 6);
    for (unsigned i = 0; i < 12; ++i) await_event(w, e, static_cast<unsigned>(w.rng().below(nodes)), 6);
    w.run(13);
  });
}

struct barrier_checker {
  std::uint64_t id = 0;
  std::uint64_t participants = 0, entered = 0, passed = 0;
};

program use_barrier(world& w, barrier_checker& b, unsigned n, std::uint32_t thread, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    co_await w.pause(w.rng().below(3) == 0 ? 50'000 : 100);
    ++b.entered;
    const auto got = co_await w.call(n, make_call(op::barrier_wait, b.id, thread));
    EXPECT_EQ(got.status, QUIRE_OK);
    ++b.passed;
    EXPECT_LE(b.passed, b.entered / b.participants * b.participants) << "passed before all had come";
  }
  w.leave();
}

/// With as many threads as participants, each passes all rounds; with a multiple, whoever comes makes up a round.
void barrier_run(std::uint64_t seed, unsigned nodes, unsigned threads, unsigned participants) {
  world w(seed, nodes, order::any);
  barrier_checker b{.id = make_object(w, static_cast<unsigned>(seed % nodes), op::barrier_create, participants),
                    .participants = participants};
  for (unsigned t = 0; t < threads; ++t)
    use_barrier(w, b, static_cast<unsigned>(w.rng().below(nodes)), t, participants);
  w.run(threads);
  EXPECT_EQ(b.passed, std::uint64_t{threads} * participants);
}

TEST(barrier, random_runs) {
  for_seeds(1, 1000, [](std::uint64_t seed) {
    const unsigned participants = 1 + static_cast<unsigned>(seed % 9);
    // All threads do as many rounds, so that with one group nobody is left over at the end.
    barrier_run(seed, nodes_of(seed), participants, participants);
  });
}

TEST(barrier, a_thousand_nodes) {
  for_seeds(1, 5, [](std::uint64_t seed) { barrier_run(seed, 1000, 60, 60); });
}

/// More threads than participants: they pass in groups of whoever is there. Those left over at the end are let go.
program use_barrier_in_groups(world& w, barrier_checker& b, unsigned n, std::uint32_t thread, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    co_await w.pause(w.rng().below(3) == 0 ? 50'000 : 100);
    ++b.entered;
    const auto got = co_await w.call(n, make_call(op::barrier_wait, b.id, thread));
    if (got.status == QUIRE_NOT_FOUND) break;
    EXPECT_EQ(got.status, QUIRE_OK);
    ++b.passed;
    EXPECT_LE(b.passed, b.entered / b.participants * b.participants) << "passed before all had come";
  }
  w.leave();
}

program destroy_late(world& w, op what, std::uint64_t id) {
  for (int i = 0; i < 400; ++i) co_await w.pause(200'000);
  const auto got = co_await w.call(0, make_call(what, id));
  EXPECT_EQ(got.status, QUIRE_OK);
  w.leave();
}

TEST(barrier, threads_that_change_places) {
  for_seeds(1, 400, [](std::uint64_t seed) {
    const unsigned nodes = nodes_of(seed);
    world w(seed, nodes, order::any);
    barrier_checker b{.id = make_object(w, static_cast<unsigned>(seed % nodes), op::barrier_create, 3),
                      .participants = 3};
    for (unsigned t = 0; t < 8; ++t) use_barrier_in_groups(w, b, static_cast<unsigned>(w.rng().below(nodes)), t, 10);
    destroy_late(w, op::barrier_destroy, b.id);
    w.run(9);
    EXPECT_GE(b.passed, 60u);  // at most two threads are left over in a round, so nearly all of 80
  });
}

struct round_checker {
  std::vector<unsigned> entered;  ///< nodes that have called, by round
  std::vector<std::int64_t> sums;
  std::vector<std::uint64_t> bits;  ///< of the sum of reals, from the first node that has it
  std::vector<bool> seen;
};

/// The same series of collectives on each node.
program use_collectives(world& w, round_checker& r, unsigned n) {
  for (std::size_t i = 0; i < r.entered.size(); ++i) {
    co_await w.pause(w.rng().below(4) == 0 ? 60'000 : 100);
    if (n == 0 && w.rng().below(2) == 0) {
      EXPECT_EQ((co_await w.call(n, make_call(op::await_nodes, 0))).status, QUIRE_OK);
      EXPECT_EQ(r.entered[i], w.nodes() - 1) << "the root has not waited for all others";
      co_await w.pause(100);
    }
    ++r.entered[i];
    call c = make_call(op::barrier_wait, 0);
    const std::int64_t whole = n * static_cast<std::int64_t>(i + 1);
    const double real = 1.0 / (n + 1.0 + static_cast<double>(i));
    c.count = 1;
    if (i % 4 == 1) {
      c.what = op::reduce_i64;
      c.values = value(std::as_bytes(std::span(&whole, 1)));
    } else if (i % 4 == 2) {
      c.what = op::reduce_f64;
      c.values = value(std::as_bytes(std::span(&real, 1)));
    } else if (i % 4 == 3) {
      c.what = op::broadcast;
      c.count = sizeof whole;
      c.operand = i % w.nodes();
      if (c.operand == n) c.values = value(std::as_bytes(std::span(&whole, 1)));
    }
    const auto got = co_await w.call(n, c);
    EXPECT_EQ(got.status, QUIRE_OK);
    EXPECT_EQ(r.entered[i], w.nodes()) << "passed before all had come";
    std::uint64_t bits = 0;
    if (!got.values.empty()) std::memcpy(&bits, got.values.bytes().data(), sizeof bits);
    const std::int64_t all = w.nodes();
    if (i % 4 == 1) {
      EXPECT_EQ(static_cast<std::int64_t>(bits), all * (all - 1) / 2 * static_cast<std::int64_t>(i + 1));
    } else if (i % 4 == 3) {
      EXPECT_EQ(bits, i % w.nodes() * (i + 1));
    }
    if (!r.seen[i]) {
      r.seen[i] = true;
      r.bits[i] = bits;
    }
    EXPECT_EQ(bits, r.bits[i]) << "nodes got different results";
  }
  w.leave();
}

void collective_run(std::uint64_t seed, unsigned nodes, std::size_t rounds) {
  world w(seed, nodes, order::any);
  round_checker r{std::vector<unsigned>(rounds), std::vector<std::int64_t>(rounds), std::vector<std::uint64_t>(rounds),
                  std::vector<bool>(rounds)};
  for (unsigned n = 0; n < nodes; ++n) use_collectives(w, r, n);
  w.run(nodes);
  EXPECT_EQ(w.net().messages(), 2 * (nodes - 1) * rounds);
}

TEST(collective, random_runs) {
  for_seeds(1, 500, [](std::uint64_t seed) { collective_run(seed, nodes_of(seed), 16); });
}

TEST(collective, a_thousand_nodes) {
  for_seeds(1, 5, [](std::uint64_t seed) { collective_run(seed, 1000, 8); });
}

constexpr std::array creations = {op::mutex_create,   op::rwlock_create, op::condition_create,
                                  op::barrier_create, op::event_create,  op::semaphore_create};
constexpr std::array destructions = {op::mutex_destroy,   op::rwlock_destroy, op::condition_destroy,
                                     op::barrier_destroy, op::event_destroy,  op::semaphore_destroy};
bool is_one_of(op what, std::span<const op> some) { return std::find(some.begin(), some.end(), what) != some.end(); }

/// All kinds of objects, live, dying, gone and never born.
struct zoo {
  std::vector<std::uint64_t> objects;
  std::uint64_t pick(world& w) const {
    std::uint64_t id = objects[w.rng().below(objects.size())];
    const auto chance = w.rng().below(20);
    if (chance == 0) id += 1 + w.rng().below(3);
    if (chance == 1) id = w.rng().next();
    return id;
  }
};

program use_anything(world& w, const zoo& z, unsigned n, std::uint32_t thread, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    call c;
    c.what = static_cast<op>(w.rng().below(static_cast<std::uint64_t>(op::semaphore_destroy) + 1));
    // Objects that nobody knows of could not be destroyed at the end.
    if (is_one_of(c.what, creations)) continue;
    if (is_one_of(c.what, destructions) && w.rng().below(10) != 0) c.what = op::mutex_lock;
    for (int attempt = 0; attempt < 10; ++attempt) {
      c.object = z.pick(w);
      if (kind_of(object_id{c.object}) == object_of(c.what)) break;
    }
    if (c.object == 0) continue;
    c.thread = thread;
    c.try_only = w.rng().below(8) == 0;
    c.operand = c.what == op::condition_wait ? z.pick(w) : w.rng().below(4);
    const auto got = co_await w.call(n, c, w.rng().below(3) == 0 ? w.rng().below(50'000) + 1 : 0);
    const bool known = got.status == QUIRE_OK || got.status == QUIRE_TIMED_OUT || got.status == QUIRE_BUSY ||
                       got.status == QUIRE_NOT_FOUND || got.status == QUIRE_INVALID || got.status == QUIRE_NOT_OWNER ||
                       got.status == QUIRE_PEER_LOST;
    EXPECT_TRUE(known) << got.status;
    co_await w.pause(2'000);
  }
  w.leave();
}

/// Ends everything there is; who comes later finds nothing to wait for.
program destroy_all(world& w, const zoo& z) {
  for (int i = 0; i < 60; ++i) co_await w.pause(50'000);
  for (const std::uint64_t id : z.objects) {
    const call c = make_call(*std::find_if(destructions.begin(), destructions.end(),
                                           [id](op what) { return object_of(what) == kind_of(object_id{id}); }),
                             id, 999);
    const auto got = co_await w.call(0, c);
    EXPECT_TRUE(got.status == QUIRE_OK || got.status == QUIRE_NOT_FOUND);
  }
  w.leave();
}

/// Mutexes and conditions need the order of messages: every second run does without both.
order order_of(std::uint64_t seed) { return seed % 2 == 0 ? order::any : order::kept; }

zoo make_zoo(world& w, order within_pairs) {
  zoo z;
  for (int i = 0; i < 3; ++i) {
    for (const op what : {op::mutex_create, op::mutex_create, op::rwlock_create, op::condition_create, op::event_create,
                          op::semaphore_create, op::barrier_create}) {
      if (within_pairs == order::any && (what == op::mutex_create || what == op::condition_create)) continue;
      const std::uint64_t operand = what == op::barrier_create ? 2 : 1;
      z.objects.push_back(make_object(w, static_cast<unsigned>(w.rng().below(w.nodes())), what, operand));
    }
  }
  return z;
}

/// Threads leave mutexes locked here, on purpose; destruction frees all that wait.
TEST(everything, destruction_and_garbage_handles_leave_nobody_waiting) {
  for_seeds(1, 2000, [](std::uint64_t seed) {
    world w(seed, nodes_of(seed), order_of(seed));
    const zoo z = make_zoo(w, order_of(seed));
    unsigned programs = 1;
    for (unsigned t = 0; t < 12; ++t, ++programs)
      use_anything(w, z, static_cast<unsigned>(w.rng().below(w.nodes())), t, 25);
    destroy_all(w, z);
    w.run(programs);
  });
}

program lose_everywhere(world& w) {
  for (int i = 0; i < 20; ++i) co_await w.pause(20'000);
  for (unsigned n = 0; n < w.nodes(); ++n) {
    w.lose_peer(n);
    co_await w.pause(20'000);
  }
  w.leave();
}

TEST(everything, a_lost_peer_leaves_nobody_waiting) {
  for_seeds(1, 1200, [](std::uint64_t seed) {
    world w(seed, nodes_of(seed), order_of(seed));
    const zoo z = make_zoo(w, order_of(seed));
    unsigned programs = 1;
    for (unsigned t = 0; t < 12; ++t, ++programs)
      use_anything(w, z, static_cast<unsigned>(w.rng().below(w.nodes())), t, 60);
    lose_everywhere(w);
    w.run(programs);
  });
}

}  // namespace
}  // namespace quire::sync::sync_random_objects_test
