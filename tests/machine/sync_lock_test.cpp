// SPDX-License-Identifier: BSD-3-Clause
// Mutexes as transcripts: who sends what, what it costs, and what a wrong call gets.
#include "sync_locks.hpp"

namespace quire::sync::sync_lock_test {
namespace {

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

}  // namespace
}  // namespace quire::sync::sync_lock_test
