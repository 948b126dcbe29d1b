// SPDX-License-Identifier: BSD-3-Clause
// Mutexes and conditions as transcripts: who sends what, what it costs, and what a wrong call gets.
#include "sync_cluster.hpp"

namespace quire::sync::sync_lock_test {
namespace {

using op = operation;

struct locks : testing::Test {
  cluster c{4};
  std::uint64_t m = c.run(0, make_call(op::mutex_create))->object;
  outcome lock(unsigned n, std::uint32_t thread = 0) { return c.status_of(n, make_call(op::mutex_lock, m, thread)); }
  outcome try_lock(unsigned n, std::uint32_t thread = 0) { return c.status_of(n, make_try(op::mutex_lock, m, thread)); }
  outcome unlock(unsigned n, std::uint32_t thread = 0) {
    return c.status_of(n, make_call(op::mutex_unlock, m, thread));
  }
  /// Delivers the oldest message, which must be this one.
  void deliver(kind what, unsigned to) {
    ASSERT_FALSE(c.bag().empty());
    EXPECT_EQ(kind_of(c.bag()[0].m.kind), what);
    EXPECT_EQ(c.bag()[0].to, node(to));
    c.deliver_first();
  }
};

TEST_F(locks, a_handle_tells_kind_and_home) {
  const auto id = object_id{c.run(3, make_call(op::mutex_create))->object};
  EXPECT_EQ(kind_of(id), object_kind::mutex);
  EXPECT_EQ(home_of(id, 4), node(3));
  EXPECT_NE(id.value(), c.run(3, make_call(op::mutex_create))->object);
  EXPECT_EQ(c.take_messages(), 0u);
}

TEST_F(locks, where_it_was_used_last_it_costs_nothing) {
  EXPECT_EQ(lock(1), QUIRE_OK);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  EXPECT_EQ(c.take_messages(), 2u);  // request, grant
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(lock(1, 5), QUIRE_OK);
    EXPECT_EQ(unlock(1, 5), QUIRE_OK);
  }
  EXPECT_EQ(c.take_messages(), 0u);
  c.expect_rest();
}

TEST_F(locks, a_move_from_the_home_is_request_and_grant) {
  const auto t = c.start(1, make_call(op::mutex_lock, m));
  deliver(kind::lock_request, 0);
  EXPECT_EQ(c.tokens_of(m), 0u);
  ASSERT_EQ(c.bag().size(), 1u);
  EXPECT_EQ(c.bag()[0].m.b, 1u);  // settled
  deliver(kind::lock_grant, 1);
  EXPECT_EQ(c.status_of(t), QUIRE_OK);  // two hops
  EXPECT_EQ(unlock(1), QUIRE_OK);
  EXPECT_EQ(c.take_messages(), 2u);  // and nothing after them
  c.expect_rest();
}

TEST_F(locks, a_third_node_gets_it_straight_from_the_one_that_has_it) {
  EXPECT_EQ(lock(1), QUIRE_OK);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  c.take_messages();
  const auto t = c.start(2, make_call(op::mutex_lock, m));
  deliver(kind::lock_request, 0);
  deliver(kind::lock_pass, 1);
  ASSERT_EQ(c.bag().size(), 1u);
  EXPECT_EQ(c.bag()[0].m.b, 0u);  // the home does not know yet
  deliver(kind::lock_grant, 2);
  EXPECT_EQ(c.status_of(t), QUIRE_OK);  // three hops
  deliver(kind::lock_arrived, 0);
  EXPECT_EQ(unlock(2), QUIRE_OK);
  EXPECT_EQ(c.take_messages(), 4u);
  c.expect_rest();
}

TEST_F(locks, the_home_gets_it_back_with_pass_and_grant) {
  EXPECT_EQ(lock(1), QUIRE_OK);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  c.take_messages();
  const auto t = c.start(0, make_call(op::mutex_lock, m));
  deliver(kind::lock_request, 0);  // to itself
  deliver(kind::lock_pass, 1);
  deliver(kind::lock_grant, 0);
  EXPECT_EQ(c.status_of(t), QUIRE_OK);
  EXPECT_EQ(c.take_messages(), 2u);
  EXPECT_EQ(unlock(0), QUIRE_OK);
  c.expect_rest();
}

TEST_F(locks, the_home_uses_what_it_gets_before_it_goes_on) {
  EXPECT_EQ(lock(1), QUIRE_OK);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  const auto mine = c.start(0, make_call(op::mutex_lock, m));
  const auto mine_too = c.start(0, make_call(op::mutex_lock, m, 1));
  const auto next = c.start(2, make_call(op::mutex_lock, m));
  deliver(kind::lock_request, 0);
  deliver(kind::lock_request, 0);  // queues
  deliver(kind::lock_pass, 1);
  deliver(kind::lock_grant, 0);
  EXPECT_EQ(c.status_of(mine), QUIRE_OK);
  EXPECT_EQ(c.status_of(mine_too), waits);
  EXPECT_TRUE(c.bag().empty());
  EXPECT_EQ(unlock(0), QUIRE_OK);
  EXPECT_EQ(c.status_of(mine_too), QUIRE_OK);
  EXPECT_EQ(c.status_of(next), waits);
  EXPECT_EQ(unlock(0, 1), QUIRE_OK);
  EXPECT_EQ(c.status_of(next), QUIRE_OK);
  EXPECT_EQ(unlock(2), QUIRE_OK);
  c.expect_rest();
}

TEST_F(locks, when_the_home_unlocks_what_another_waits_for_the_grant_is_settled_too) {
  EXPECT_EQ(lock(0), QUIRE_OK);
  const auto t = c.start(1, make_call(op::mutex_lock, m));
  c.settle();
  EXPECT_EQ(c.status_of(t), waits);
  EXPECT_EQ(c.status_of(c.start(0, make_call(op::mutex_unlock, m))), QUIRE_OK);
  deliver(kind::lock_grant, 1);
  EXPECT_EQ(c.status_of(t), QUIRE_OK);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  EXPECT_EQ(c.take_messages(), 2u);
  c.expect_rest();
}

TEST_F(locks, the_next_order_follows_a_settled_grant_and_finds_the_token) {
  const auto first = c.start(1, make_call(op::mutex_lock, m));
  const auto second = c.start(2, make_call(op::mutex_lock, m));
  deliver(kind::lock_request, 0);
  deliver(kind::lock_request, 0);
  ASSERT_EQ(c.bag().size(), 2u);  // both to node 1, in this order
  deliver(kind::lock_grant, 1);
  deliver(kind::lock_pass, 1);
  EXPECT_TRUE(c.bag().empty());  // it is locked
  EXPECT_EQ(c.status_of(first), QUIRE_OK);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  EXPECT_EQ(c.status_of(second), QUIRE_OK);
  EXPECT_EQ(unlock(2), QUIRE_OK);
  EXPECT_EQ(c.take_messages(), 6u);  // request, grant; request, pass, grant, arrived
  c.expect_rest();
}

TEST_F(locks, a_try_behind_a_settled_grant_is_refused_by_the_new_owner) {
  const auto first = c.start(1, make_call(op::mutex_lock, m));
  const auto tries = c.start(2, make_try(op::mutex_lock, m));
  deliver(kind::lock_request, 0);
  deliver(kind::lock_request, 0);
  deliver(kind::lock_grant, 1);
  deliver(kind::lock_pass, 1);
  deliver(kind::lock_refused, 2);
  deliver(kind::lock_kept, 0);
  EXPECT_EQ(c.status_of(first), QUIRE_OK);
  EXPECT_EQ(c.status_of(tries), QUIRE_BUSY);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  EXPECT_EQ(try_lock(2), QUIRE_OK);
  EXPECT_EQ(unlock(2), QUIRE_OK);
  c.expect_rest();
}

TEST_F(locks, a_settled_grant_that_finds_nobody_stays_and_goes_on_when_it_is_asked_for) {
  const auto gone = c.start(1, make_call(op::mutex_lock, m));
  deliver(kind::lock_request, 0);
  c.cancel(1, gone);
  EXPECT_EQ(c.status_of(gone), QUIRE_TIMED_OUT);
  deliver(kind::lock_grant, 1);
  EXPECT_TRUE(c.bag().empty());
  EXPECT_TRUE(c.at(1).locks().has_token(object_id{m}));
  EXPECT_EQ(lock(2), QUIRE_OK);
  EXPECT_EQ(unlock(2), QUIRE_OK);
  EXPECT_EQ(c.tokens_of(m), 1u);
  c.expect_rest();
}

TEST_F(locks, waiters_get_it_in_turn) {
  EXPECT_EQ(lock(0), QUIRE_OK);
  const auto a = c.start(2, make_call(op::mutex_lock, m));
  c.settle();
  const auto b = c.start(1, make_call(op::mutex_lock, m));
  c.settle();
  EXPECT_EQ(c.status_of(a), waits);
  EXPECT_EQ(unlock(0), QUIRE_OK);
  EXPECT_EQ(c.status_of(a), QUIRE_OK);
  EXPECT_EQ(c.status_of(b), waits);
  EXPECT_EQ(unlock(2), QUIRE_OK);
  EXPECT_EQ(c.status_of(b), QUIRE_OK);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  c.expect_rest();
}

TEST_F(locks, a_node_with_many_threads_gives_it_up_after_16_turns) {
  EXPECT_EQ(lock(0, 100), QUIRE_OK);
  std::vector<std::uint64_t> mine;
  for (std::uint32_t t = 0; t < 40; ++t) mine.push_back(c.start(0, make_call(op::mutex_lock, m, t)));
  const auto other = c.start(1, make_call(op::mutex_lock, m));
  c.settle();
  std::uint32_t turns = 0;
  EXPECT_EQ(unlock(0, 100), QUIRE_OK);
  while (c.is_open(other)) {
    ASSERT_EQ(c.status_of(mine[turns]), QUIRE_OK);
    ASSERT_EQ(unlock(0, turns), QUIRE_OK);
    ++turns;
  }
  EXPECT_EQ(turns, max_local_grants);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  for (; turns < 40; ++turns) {
    ASSERT_EQ(c.status_of(mine[turns]), QUIRE_OK);
    ASSERT_EQ(unlock(0, turns), QUIRE_OK);
  }
  EXPECT_EQ(c.status_of(other), QUIRE_OK);
  c.expect_rest();
}

TEST_F(locks, try_gets_what_is_free_and_only_that) {
  EXPECT_EQ(try_lock(1), QUIRE_OK);
  EXPECT_EQ(try_lock(1, 1), QUIRE_BUSY);
  EXPECT_EQ(try_lock(2), QUIRE_BUSY);
  EXPECT_EQ(try_lock(0), QUIRE_BUSY);
  const auto waiter = c.start(3, make_call(op::mutex_lock, m));
  c.settle();
  EXPECT_EQ(try_lock(2), QUIRE_BUSY);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  EXPECT_EQ(c.status_of(waiter), QUIRE_OK);
  EXPECT_EQ(unlock(3), QUIRE_OK);
  EXPECT_EQ(try_lock(2), QUIRE_OK);
  EXPECT_EQ(unlock(2), QUIRE_OK);
  c.expect_rest();
}

TEST_F(locks, a_thread_that_comes_while_another_tries_gets_it_later) {
  EXPECT_EQ(lock(0), QUIRE_OK);
  const auto tries = c.start(1, make_try(op::mutex_lock, m, 0));
  const auto waiter = c.start(1, make_call(op::mutex_lock, m, 1));
  EXPECT_EQ(c.status_of(c.start(1, make_try(op::mutex_lock, m, 2))), QUIRE_BUSY);
  c.settle();
  EXPECT_EQ(c.status_of(tries), QUIRE_BUSY);
  EXPECT_EQ(c.status_of(waiter), waits);
  EXPECT_EQ(unlock(0), QUIRE_OK);
  EXPECT_EQ(c.status_of(waiter), QUIRE_OK);
  EXPECT_EQ(unlock(1, 1), QUIRE_OK);
  c.expect_rest();
}

TEST_F(locks, a_timed_lock_leaves_at_once_and_the_token_stays_where_it_comes) {
  EXPECT_EQ(lock(0), QUIRE_OK);
  const auto t = c.start(1, make_call(op::mutex_lock, m));
  c.settle();
  c.cancel(1, t);
  EXPECT_EQ(c.status_of(t), QUIRE_TIMED_OUT);
  c.cancel(1, t);  // a second time changes nothing
  EXPECT_EQ(unlock(0), QUIRE_OK);
  EXPECT_TRUE(c.at(1).locks().has_token(object_id{m}));
  c.take_messages();
  EXPECT_EQ(lock(1), QUIRE_OK);
  EXPECT_EQ(c.take_messages(), 0u);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  c.expect_rest();
}

TEST_F(locks, a_cancel_after_the_grant_comes_too_late) {
  const auto t = c.start(1, make_call(op::mutex_lock, m));
  c.settle();
  c.cancel(1, t);
  EXPECT_EQ(c.status_of(t), QUIRE_OK);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  c.expect_rest();
}

TEST_F(locks, wrong_calls) {
  EXPECT_EQ(unlock(0), QUIRE_NOT_OWNER);
  EXPECT_EQ(unlock(2), QUIRE_NOT_OWNER);
  EXPECT_EQ(lock(1), QUIRE_OK);
  EXPECT_EQ(unlock(1, 1), QUIRE_NOT_OWNER);
  EXPECT_EQ(unlock(0), QUIRE_NOT_OWNER);
  EXPECT_EQ(lock(1), QUIRE_INVALID);  // by its owner
  EXPECT_EQ(try_lock(1), QUIRE_BUSY);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  for (const std::uint64_t bad :
       {std::uint64_t{0}, ~std::uint64_t{0}, m | (std::uint64_t{9} << 40), m + (std::uint64_t{1} << 56)}) {
    EXPECT_EQ(c.status_of(1, make_call(op::mutex_lock, bad)), QUIRE_INVALID);
    EXPECT_EQ(c.status_of(1, make_call(op::mutex_unlock, bad)), QUIRE_INVALID);
    EXPECT_EQ(c.status_of(1, make_call(op::mutex_destroy, bad)), QUIRE_INVALID);
  }
  for (const auto what : {op::mutex_lock, op::mutex_unlock, op::mutex_destroy}) {
    EXPECT_EQ(c.status_of(1, make_call(what, m + 1)), QUIRE_NOT_FOUND);
    EXPECT_EQ(c.status_of(0, make_call(what, m + 1)), QUIRE_NOT_FOUND);
  }
  c.expect_rest();
}

TEST_F(locks, destroy_ends_those_that_wait_and_the_owner_is_left_with_nothing) {
  EXPECT_EQ(lock(1), QUIRE_OK);
  const auto same = c.start(1, make_call(op::mutex_lock, m, 1));
  const auto first = c.start(2, make_call(op::mutex_lock, m));
  c.settle();
  const auto second = c.start(3, make_call(op::mutex_lock, m));
  c.settle();
  EXPECT_EQ(c.status_of(0, make_call(op::mutex_destroy, m)), QUIRE_OK);
  for (const auto t : {same, first, second}) EXPECT_EQ(c.status_of(t), QUIRE_NOT_FOUND);
  EXPECT_EQ(unlock(1), QUIRE_NOT_FOUND);
  EXPECT_EQ(lock(3), QUIRE_NOT_FOUND);
  EXPECT_EQ(c.status_of(0, make_call(op::mutex_destroy, m)), QUIRE_NOT_FOUND);
  EXPECT_EQ(c.tokens_of(m), 0u);
  c.expect_rest();
}

TEST_F(locks, destroy_finds_the_token_on_its_way) {
  EXPECT_EQ(lock(2), QUIRE_OK);
  EXPECT_EQ(unlock(2), QUIRE_OK);
  const auto t = c.start(1, make_call(op::mutex_lock, m));
  deliver(kind::lock_request, 0);
  deliver(kind::lock_pass, 2);
  const auto gone = c.start(3, make_call(op::mutex_destroy, m));
  ASSERT_EQ(c.bag()[1].to, node(0));
  c.deliver(1);
  const auto again = c.start(3, make_call(op::mutex_destroy, m));
  c.settle();
  EXPECT_EQ(c.status_of(t), QUIRE_OK);  // it came first
  EXPECT_EQ(c.status_of(gone), QUIRE_OK);
  EXPECT_EQ(c.status_of(again), QUIRE_NOT_FOUND);
  EXPECT_EQ(unlock(1), QUIRE_NOT_FOUND);
  EXPECT_EQ(c.tokens_of(m), 0u);
  c.expect_rest();
}

TEST_F(locks, destroy_behind_a_settled_grant) {
  const auto t = c.start(1, make_call(op::mutex_lock, m));
  deliver(kind::lock_request, 0);
  const auto gone = c.start(0, make_call(op::mutex_destroy, m));
  deliver(kind::lock_grant, 1);
  EXPECT_EQ(c.status_of(t), QUIRE_OK);  // it came first
  deliver(kind::request, 0);
  deliver(kind::lock_revoke, 1);
  deliver(kind::lock_revoked, 0);
  c.settle();
  EXPECT_EQ(c.status_of(gone), QUIRE_OK);
  EXPECT_EQ(unlock(1), QUIRE_NOT_FOUND);
  EXPECT_EQ(c.tokens_of(m), 0u);
  c.expect_rest();
}

TEST_F(locks, the_home_gives_the_token_away_while_the_order_to_revoke_it_is_on_its_way_to_itself) {
  EXPECT_EQ(lock(0), QUIRE_OK);
  const auto t = c.start(1, make_call(op::mutex_lock, m));
  c.settle();
  const auto gone = c.start(0, make_call(op::mutex_destroy, m, 1));
  deliver(kind::request, 0);
  EXPECT_EQ(c.status_of(c.start(0, make_call(op::mutex_unlock, m))), QUIRE_OK);
  deliver(kind::lock_revoke, 0);  // finds nothing
  deliver(kind::lock_grant, 1);
  EXPECT_EQ(c.status_of(t), QUIRE_OK);
  deliver(kind::lock_revoke, 1);
  deliver(kind::lock_revoked, 0);
  c.settle();
  EXPECT_EQ(c.status_of(gone), QUIRE_OK);
  EXPECT_EQ(unlock(1), QUIRE_NOT_FOUND);
  c.expect_rest();
}

TEST_F(locks, no_message_about_a_mutex_that_is_not_there_does_harm) {
  for (std::uint8_t k = 0; k <= static_cast<std::uint8_t>(kind::last); ++k) {
    for (const std::uint64_t object : {m, m + 7, std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{3} << 56 | 1}) {
      in_flight f;
      f.to = node(1);
      f.m.kind = message_kind_of(static_cast<kind>(k));
      f.m.from = f.m.requester = node(2);
      f.m.unit = object;
      f.m.token = 12345;
      f.m.operation = static_cast<std::uint32_t>(op::semaphore_destroy);
      f.m.a = 5;
      c.inject(f);
      c.settle();
    }
  }
  EXPECT_EQ(lock(1), QUIRE_OK);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  c.expect_rest();
}

// Threads that lock again at once (lock_linger.cpp).
struct busy_locks : locks {
  std::uint64_t now = 1'000'000;
  /// Node 1 locks and unlocks, a microsecond after the time before.
  void use(unsigned n = 1) {
    EXPECT_EQ(at_once(n, op::mutex_lock), QUIRE_OK);
    EXPECT_EQ(at_once(n, op::mutex_unlock), QUIRE_OK);
  }
  /// Messages stay where they are.
  outcome at_once(unsigned n, op what, std::uint32_t thread = 0) {
    call k = make_call(what, m, thread);
    k.now_ns = now += 1'000;
    return c.status_of(c.start(n, k));
  }
  void get_used_to_it(unsigned n = 1) {
    EXPECT_EQ(lock(n), QUIRE_OK);
    EXPECT_EQ(at_once(n, op::mutex_unlock), QUIRE_OK);
    for (int i = 0; i < 3; ++i) use(n);
  }
};

TEST_F(busy_locks, a_mutex_that_is_locked_again_at_once_serves_sixteen_before_it_goes) {
  get_used_to_it();
  c.take_messages();
  EXPECT_EQ(at_once(1, op::mutex_lock), QUIRE_OK);
  const auto other = c.start(0, make_call(op::mutex_lock, m));
  c.settle();
  EXPECT_EQ(at_once(1, op::mutex_unlock), QUIRE_OK);
  for (unsigned i = 0; i < max_local_grants; ++i) {
    c.settle();
    EXPECT_EQ(c.status_of(other), waits);
    use();
  }
  c.settle();
  EXPECT_EQ(c.status_of(other), QUIRE_OK);
  EXPECT_EQ(c.take_messages(), 2u);  // pass, grant
  EXPECT_EQ(unlock(0), QUIRE_OK);
  c.end_linger(1, m);  // late: nothing
  c.expect_rest();
}

TEST_F(busy_locks, who_asks_while_it_is_free_between_two_uses_waits_too) {
  get_used_to_it();
  const auto other = c.start(2, make_call(op::mutex_lock, m));
  c.settle();
  EXPECT_EQ(c.status_of(other), waits);
  EXPECT_TRUE(c.at(1).locks().lingers(object_id{m}));
  EXPECT_EQ(c.take_lingers(), 1u);
  c.end_linger(1, m);
  c.settle();
  EXPECT_EQ(c.status_of(other), QUIRE_OK);
  EXPECT_EQ(unlock(2), QUIRE_OK);
  c.expect_rest();
}

TEST_F(busy_locks, after_a_stay_in_vain_it_must_be_seen_twice_as_often) {
  get_used_to_it();
  const auto once = c.start(2, make_call(op::mutex_lock, m));
  c.settle();
  c.end_linger(1, m);
  c.settle();
  EXPECT_EQ(c.status_of(once), QUIRE_OK);
  EXPECT_EQ(unlock(2), QUIRE_OK);
  c.take_lingers();
  for (int uses : {3, 5}) {
    EXPECT_EQ(lock(1), QUIRE_OK);
    EXPECT_EQ(at_once(1, op::mutex_unlock), QUIRE_OK);
    for (int i = 0; i < uses; ++i) use();
    const auto again = c.start(2, make_call(op::mutex_lock, m));
    c.settle();
    EXPECT_EQ(c.take_lingers(), uses == 3 ? 0u : 1u);
    c.end_linger(1, m);
    c.settle();
    EXPECT_EQ(c.status_of(again), QUIRE_OK);
    EXPECT_EQ(unlock(2), QUIRE_OK);
  }
  c.expect_rest();
}

TEST_F(busy_locks, one_that_waits_between_two_uses_gives_it_away_at_once) {
  const auto s = c.run(1, make_call(op::semaphore_create, 0, 0, 100))->object;
  EXPECT_EQ(lock(1), QUIRE_OK);
  EXPECT_EQ(at_once(1, op::mutex_unlock), QUIRE_OK);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(c.status_of(1, make_call(op::semaphore_acquire, s)),
              QUIRE_OK);  // perhaps for what another node has done meanwhile
    use();
  }
  EXPECT_EQ(c.status_of(1, make_call(op::semaphore_acquire, s)), QUIRE_OK);
  const auto other = c.start(2, make_call(op::mutex_lock, m));
  c.settle();
  EXPECT_EQ(c.status_of(other), QUIRE_OK);
  EXPECT_EQ(c.take_lingers(), 0u);
  EXPECT_EQ(unlock(2), QUIRE_OK);
  c.expect_rest();
}

TEST_F(busy_locks, one_that_takes_its_time_gives_it_away_at_once) {
  EXPECT_EQ(lock(1), QUIRE_OK);
  EXPECT_EQ(at_once(1, op::mutex_unlock), QUIRE_OK);
  for (int i = 0; i < 5; ++i) {
    now += linger_ns;
    use();
  }
  const auto other = c.start(2, make_call(op::mutex_lock, m));
  c.settle();
  EXPECT_EQ(c.status_of(other), QUIRE_OK);
  EXPECT_EQ(unlock(2), QUIRE_OK);
  c.expect_rest();
}

TEST_F(busy_locks, destroyed_while_it_stays) {
  get_used_to_it();
  const auto other = c.start(2, make_call(op::mutex_lock, m));
  c.settle();
  EXPECT_EQ(c.take_lingers(), 1u);
  EXPECT_EQ(c.status_of(3, make_call(op::mutex_destroy, m)), QUIRE_OK);
  EXPECT_EQ(c.status_of(other), QUIRE_NOT_FOUND);
  c.end_linger(1, m);
  c.settle();
  c.expect_rest();
}

struct conditions : locks {
  std::uint64_t v = c.run(2, make_call(op::condition_create))->object;
  std::uint64_t wait(unsigned n, std::uint32_t thread = 0) {
    const auto t = c.start(n, make_call(op::condition_wait, v, thread, m));
    c.settle();
    return t;
  }
};

TEST_F(conditions, wait_releases_notify_wakes_and_the_mutex_is_held_again) {
  EXPECT_EQ(lock(1), QUIRE_OK);
  c.take_messages();
  const auto t = wait(1);
  EXPECT_EQ(c.take_messages(), 2u);  // request, queued
  EXPECT_EQ(lock(0), QUIRE_OK);
  c.take_messages();
  EXPECT_EQ(c.status_of(0, make_call(op::condition_notify_one, v)), QUIRE_OK);
  EXPECT_EQ(c.status_of(t), waits);  // node 0 has the mutex
  EXPECT_EQ(unlock(0), QUIRE_OK);
  EXPECT_EQ(c.status_of(t), QUIRE_OK);
  EXPECT_EQ(c.take_messages(), 2u + 2u);  // notify, wake; then the mutex moves
  EXPECT_EQ(lock(1), QUIRE_INVALID);      // it holds it
  EXPECT_EQ(unlock(1), QUIRE_OK);
  c.expect_rest();
}

TEST_F(conditions, the_mutex_is_not_free_before_the_wait_is_queued) {
  EXPECT_EQ(lock(1), QUIRE_OK);
  const auto t = c.start(1, make_call(op::condition_wait, v, 0, m));
  EXPECT_EQ(c.status_of(c.start(1, make_try(op::mutex_lock, m, 1))), QUIRE_BUSY);
  c.deliver_first();  // the request
  EXPECT_EQ(c.status_of(c.start(1, make_try(op::mutex_lock, m, 1))), QUIRE_BUSY);
  c.deliver_first();  // queued
  EXPECT_EQ(c.status_of(c.start(1, make_try(op::mutex_lock, m, 1))), QUIRE_OK);
  EXPECT_EQ(c.status_of(1, make_call(op::condition_notify_all, v, 1)), QUIRE_OK);
  EXPECT_EQ(unlock(1, 1), QUIRE_OK);
  EXPECT_EQ(c.status_of(t), QUIRE_OK);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  c.expect_rest();
}

TEST_F(conditions, a_notify_that_overtakes_the_acknowledgement_is_not_lost) {
  EXPECT_EQ(lock(1), QUIRE_OK);
  const auto t = c.start(1, make_call(op::condition_wait, v, 0, m));
  c.deliver_first();
  const auto n = c.start(2, make_call(op::condition_notify_one, v));
  ASSERT_EQ(kind_of(c.bag()[0].m.kind), kind::queued);
  c.deliver(1);  // the notify
  ASSERT_EQ(kind_of(c.bag()[1].m.kind), kind::reply);
  ASSERT_EQ(c.bag()[1].to, node(1));
  c.deliver(1);
  EXPECT_EQ(c.status_of(t), QUIRE_OK);
  c.settle();
  EXPECT_EQ(c.status_of(n), QUIRE_OK);
  EXPECT_EQ(unlock(1), QUIRE_OK);  // the late acknowledgement has not taken it away
  c.expect_rest();
}

TEST_F(conditions, one_wakes_the_oldest_all_wakes_all_and_none_is_kept_for_later) {
  EXPECT_EQ(c.status_of(0, make_call(op::condition_notify_one, v)), QUIRE_OK);
  std::vector<std::uint64_t> t;
  for (unsigned n = 0; n < 4; ++n) {
    EXPECT_EQ(lock(n), QUIRE_OK);
    t.push_back(wait(n));
  }
  EXPECT_EQ(c.status_of(3, make_call(op::condition_notify_one, v, 9)), QUIRE_OK);
  EXPECT_EQ(c.status_of(t[0]), QUIRE_OK);
  EXPECT_EQ(unlock(0), QUIRE_OK);
  EXPECT_EQ(c.status_of(t[1]), waits);
  EXPECT_EQ(c.status_of(3, make_call(op::condition_notify_all, v, 9)), QUIRE_OK);
  for (unsigned n = 1; n < 4; ++n) {
    EXPECT_EQ(c.status_of(t[n]), QUIRE_OK);
    EXPECT_EQ(unlock(n), QUIRE_OK);
  }
  c.expect_rest();
}

TEST_F(conditions, a_wait_that_times_out_holds_the_mutex) {
  EXPECT_EQ(lock(1), QUIRE_OK);
  const auto t = wait(1);
  EXPECT_EQ(lock(0), QUIRE_OK);
  c.cancel(1, t);
  c.settle();
  EXPECT_EQ(c.status_of(t), waits);
  c.cancel(1, t);  // while it takes the mutex again: nothing
  c.settle();
  EXPECT_EQ(unlock(0), QUIRE_OK);
  EXPECT_EQ(c.status_of(t), QUIRE_TIMED_OUT);
  EXPECT_EQ(unlock(1), QUIRE_OK);
  c.expect_rest();
}

TEST_F(conditions, wrong_calls) {
  EXPECT_EQ(c.status_of(1, make_call(op::condition_wait, v, 0, m)), QUIRE_NOT_OWNER);
  EXPECT_EQ(lock(1), QUIRE_OK);
  EXPECT_EQ(c.status_of(1, make_call(op::condition_wait, v, 1, m)), QUIRE_NOT_OWNER);
  EXPECT_EQ(c.status_of(1, make_call(op::condition_wait, v, 0, v)), QUIRE_INVALID);
  EXPECT_EQ(c.status_of(1, make_call(op::condition_wait, m, 0, m)), QUIRE_INVALID);
  EXPECT_EQ(c.status_of(1, make_call(op::condition_wait, v + 1, 0, m)), QUIRE_NOT_FOUND);
  EXPECT_EQ(c.status_of(2, make_call(op::condition_notify_one, v + 1)), QUIRE_NOT_FOUND);
  EXPECT_EQ(c.status_of(2, make_call(op::condition_notify_all, v + 1)), QUIRE_NOT_FOUND);
  EXPECT_EQ(c.status_of(1, make_call(op::condition_notify_one, v + 1)),
            QUIRE_OK);  // nobody waits for the home's answer
  EXPECT_EQ(c.status_of(1, make_call(op::condition_destroy, v + 1)), QUIRE_NOT_FOUND);
  const auto t = wait(1);
  EXPECT_EQ(c.status_of(0, make_call(op::condition_destroy, v)), QUIRE_OK);
  EXPECT_EQ(c.status_of(t), QUIRE_NOT_FOUND);
  EXPECT_EQ(unlock(1), QUIRE_OK);  // it holds the mutex again
  c.expect_rest();
}

TEST_F(conditions, the_mutex_destroyed_meanwhile) {
  EXPECT_EQ(lock(1), QUIRE_OK);
  const auto t = wait(1);
  EXPECT_EQ(c.status_of(0, make_call(op::mutex_destroy, m)), QUIRE_OK);
  EXPECT_EQ(c.status_of(0, make_call(op::condition_notify_one, v)), QUIRE_OK);
  EXPECT_EQ(c.status_of(t), QUIRE_NOT_FOUND);
  c.expect_rest();
}

}  // namespace
}  // namespace quire::sync::sync_lock_test
