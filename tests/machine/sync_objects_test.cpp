// SPDX-License-Identifier: BSD-3-Clause
// Reader-writer locks, semaphores, events and barriers as transcripts: order, cost, cancels, destruction, wrong calls.
#include "sync_cluster.hpp"

namespace quire::sync::sync_objects_test {
namespace {

using op = operation;

struct objects : testing::Test {
  cluster c{4};
  std::uint64_t make(unsigned n, op what, std::uint64_t operand = 0) {
    return c.run(n, make_call(what, 0, 0, operand))->object;
  }
  outcome status(unsigned n, op what, std::uint64_t object, std::uint32_t thread = 0, std::uint64_t operand = 0) {
    return c.status_of(n, make_call(what, object, thread, operand));
  }
  outcome tries(unsigned n, op what, std::uint64_t object, std::uint32_t thread = 0) {
    return c.status_of(n, make_try(what, object, thread));
  }
  /// A call that is expected to wait.
  std::uint64_t waiting(unsigned n, op what, std::uint64_t object, std::uint32_t thread = 0) {
    const auto t = c.start(n, make_call(what, object, thread));
    c.settle();
    EXPECT_TRUE(c.is_open(t));
    return t;
  }
};

TEST_F(objects, rwlock_shares_among_readers_and_costs_two_messages_and_one) {
  const auto l = make(0, op::rwlock_create);
  EXPECT_EQ(status(1, op::rwlock_read_lock, l), QUIRE_OK);
  EXPECT_EQ(c.take_messages(), 2u);
  EXPECT_EQ(status(2, op::rwlock_read_lock, l), QUIRE_OK);
  EXPECT_EQ(tries(3, op::rwlock_write_lock, l), QUIRE_BUSY);
  c.take_messages();
  EXPECT_EQ(status(1, op::rwlock_unlock, l), QUIRE_OK);
  EXPECT_EQ(c.take_messages(), 1u);
  EXPECT_EQ(status(2, op::rwlock_unlock, l), QUIRE_OK);
  EXPECT_EQ(tries(3, op::rwlock_write_lock, l), QUIRE_OK);
  EXPECT_EQ(tries(1, op::rwlock_read_lock, l), QUIRE_BUSY);
  EXPECT_EQ(status(3, op::rwlock_unlock, l), QUIRE_OK);
  c.expect_rest();
}

TEST_F(objects, rwlock_readers_do_not_pass_a_writer_that_waits) {
  const auto l = make(0, op::rwlock_create);
  EXPECT_EQ(status(1, op::rwlock_read_lock, l), QUIRE_OK);
  const auto writer = waiting(2, op::rwlock_write_lock, l);
  const auto reader = waiting(3, op::rwlock_read_lock, l);
  const auto reader_too = waiting(3, op::rwlock_read_lock, l, 1);
  EXPECT_EQ(tries(3, op::rwlock_read_lock, l, 2), QUIRE_BUSY);
  EXPECT_EQ(status(1, op::rwlock_unlock, l), QUIRE_OK);
  EXPECT_EQ(c.status_of(writer), QUIRE_OK);
  EXPECT_TRUE(c.is_open(reader));
  EXPECT_EQ(status(2, op::rwlock_unlock, l), QUIRE_OK);
  EXPECT_EQ(c.status_of(reader), QUIRE_OK);
  EXPECT_EQ(c.status_of(reader_too), QUIRE_OK);
  EXPECT_EQ(status(3, op::rwlock_unlock, l), QUIRE_OK);
  EXPECT_EQ(status(3, op::rwlock_unlock, l, 1), QUIRE_OK);
  c.expect_rest();
}

TEST_F(objects, rwlock_a_writer_that_gives_up_lets_the_readers_behind_it_in) {
  const auto l = make(0, op::rwlock_create);
  EXPECT_EQ(status(1, op::rwlock_read_lock, l), QUIRE_OK);
  const auto writer = waiting(2, op::rwlock_write_lock, l);
  const auto reader = waiting(3, op::rwlock_read_lock, l);
  c.cancel(2, writer);
  c.settle();
  EXPECT_EQ(c.status_of(writer), QUIRE_TIMED_OUT);
  EXPECT_EQ(c.status_of(reader), QUIRE_OK);
  EXPECT_EQ(status(1, op::rwlock_unlock, l), QUIRE_OK);
  EXPECT_EQ(status(3, op::rwlock_unlock, l), QUIRE_OK);
  c.expect_rest();
}

TEST_F(objects, rwlock_wrong_calls_and_destruction) {
  const auto l = make(0, op::rwlock_create);
  EXPECT_EQ(status(1, op::rwlock_unlock, l), QUIRE_NOT_OWNER);
  EXPECT_EQ(status(1, op::rwlock_unlock, l + 1), QUIRE_NOT_FOUND);
  EXPECT_EQ(status(1, op::rwlock_read_lock, l + 1), QUIRE_NOT_FOUND);
  EXPECT_EQ(status(1, op::rwlock_read_lock, 0), QUIRE_INVALID);
  EXPECT_EQ(status(1, op::rwlock_read_lock, l), QUIRE_OK);
  EXPECT_EQ(status(1, op::rwlock_unlock, l, 1), QUIRE_NOT_OWNER);
  EXPECT_EQ(status(1, op::rwlock_read_lock, l), QUIRE_INVALID);
  EXPECT_EQ(status(1, op::rwlock_write_lock, l), QUIRE_INVALID);
  EXPECT_EQ(tries(1, op::rwlock_write_lock, l), QUIRE_BUSY);
  const auto writer = waiting(2, op::rwlock_write_lock, l);
  EXPECT_EQ(status(3, op::rwlock_destroy, l), QUIRE_OK);
  EXPECT_EQ(c.status_of(writer), QUIRE_NOT_FOUND);
  EXPECT_EQ(status(1, op::rwlock_unlock, l), QUIRE_OK);
  EXPECT_EQ(status(1, op::rwlock_unlock, l), QUIRE_NOT_FOUND);
  EXPECT_EQ(status(3, op::rwlock_destroy, l), QUIRE_NOT_FOUND);
  c.expect_rest();
}

TEST_F(objects, semaphore_counts_and_serves_in_turn) {
  const auto s = make(0, op::semaphore_create, 2);
  EXPECT_EQ(status(1, op::semaphore_acquire, s), QUIRE_OK);
  EXPECT_EQ(c.take_messages(), 2u);
  EXPECT_EQ(tries(2, op::semaphore_acquire, s), QUIRE_OK);
  EXPECT_EQ(tries(2, op::semaphore_acquire, s), QUIRE_BUSY);
  const auto a = waiting(3, op::semaphore_acquire, s);
  const auto b = waiting(1, op::semaphore_acquire, s);
  const auto d = waiting(2, op::semaphore_acquire, s);
  EXPECT_EQ(status(0, op::semaphore_release, s, 0, 2), QUIRE_OK);
  EXPECT_EQ(c.status_of(a), QUIRE_OK);
  EXPECT_EQ(c.status_of(b), QUIRE_OK);
  EXPECT_TRUE(c.is_open(d));
  EXPECT_EQ(status(0, op::semaphore_release, s, 0, 5), QUIRE_OK);
  EXPECT_EQ(c.status_of(d), QUIRE_OK);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(tries(2, op::semaphore_acquire, s), QUIRE_OK);
  EXPECT_EQ(tries(2, op::semaphore_acquire, s), QUIRE_BUSY);
  EXPECT_EQ(status(0, op::semaphore_release, s, 0, 0), QUIRE_OK);
  EXPECT_EQ(tries(2, op::semaphore_acquire, s), QUIRE_BUSY);
  c.expect_rest();
}

TEST_F(objects, semaphore_more_than_it_can_count_is_refused_and_changes_nothing) {
  const auto s = make(1, op::semaphore_create, ~std::uint64_t{0} - 1);
  EXPECT_EQ(status(0, op::semaphore_release, s, 0, 2), QUIRE_INVALID);
  EXPECT_EQ(status(0, op::semaphore_release, s, 0, 1), QUIRE_OK);
  EXPECT_EQ(status(0, op::semaphore_release, s, 0, 1), QUIRE_INVALID);
  c.expect_rest();
}

TEST_F(objects, semaphore_cancel_before_after_and_ahead_of_the_request) {
  const auto s = make(0, op::semaphore_create, 0);
  const auto a = waiting(1, op::semaphore_acquire, s);
  c.cancel(1, a);
  c.settle();
  EXPECT_EQ(c.status_of(a), QUIRE_TIMED_OUT);
  // The permit and the cancel meet: the permit is kept.
  const auto b = waiting(1, op::semaphore_acquire, s);
  const auto r = c.start(2, make_call(op::semaphore_release, s, 0, 1));
  c.deliver_first();
  c.cancel(1, b);
  c.settle();
  EXPECT_EQ(c.status_of(r), QUIRE_OK);
  EXPECT_EQ(c.status_of(b), QUIRE_OK);
  // A cancel that overtakes its request is repeated until it has been heard.
  const auto d = c.start(1, make_call(op::semaphore_acquire, s));
  c.cancel(1, d);
  c.deliver(1);  // the cancel; the home knows of nothing
  c.deliver(1);  // and says so, whereupon the node asks again
  c.settle();
  EXPECT_EQ(c.status_of(d), QUIRE_TIMED_OUT);
  EXPECT_EQ(tries(1, op::semaphore_acquire, s), QUIRE_BUSY);
  c.expect_rest();
}

TEST_F(objects, semaphore_destroyed) {
  const auto s = make(0, op::semaphore_create, 0);
  const auto a = waiting(1, op::semaphore_acquire, s);
  const auto gone = c.start(2, make_call(op::semaphore_destroy, s));
  c.deliver_first();
  c.cancel(1, a);  // too late as well
  c.settle();
  EXPECT_EQ(c.status_of(gone), QUIRE_OK);
  EXPECT_EQ(c.status_of(a), QUIRE_NOT_FOUND);
  for (const auto what : {op::semaphore_acquire, op::semaphore_release, op::semaphore_destroy}) {
    EXPECT_EQ(status(3, what, s), QUIRE_NOT_FOUND);
    EXPECT_EQ(status(3, what, s | 1ull << 60), QUIRE_INVALID);
  }
  c.expect_rest();
}

TEST_F(objects, event_stays_set_until_it_is_reset) {
  const auto e = make(0, op::event_create);
  EXPECT_EQ(tries(1, op::event_wait, e), QUIRE_BUSY);
  const auto a = waiting(1, op::event_wait, e);
  const auto b = waiting(2, op::event_wait, e);
  const auto late = waiting(3, op::event_wait, e);
  c.cancel(3, late);
  c.settle();
  EXPECT_EQ(c.status_of(late), QUIRE_TIMED_OUT);
  c.take_messages();
  EXPECT_EQ(status(3, op::event_set, e), QUIRE_OK);
  EXPECT_EQ(c.take_messages(), 4u);  // set, reply, two waiters
  EXPECT_EQ(c.status_of(a), QUIRE_OK);
  EXPECT_EQ(c.status_of(b), QUIRE_OK);
  EXPECT_EQ(status(2, op::event_wait, e), QUIRE_OK);
  EXPECT_EQ(status(2, op::event_wait, e), QUIRE_OK);
  EXPECT_EQ(status(1, op::event_reset, e), QUIRE_OK);
  const auto d = waiting(2, op::event_wait, e);
  EXPECT_EQ(status(1, op::event_destroy, e), QUIRE_OK);
  EXPECT_EQ(c.status_of(d), QUIRE_NOT_FOUND);
  for (const auto what : {op::event_wait, op::event_set, op::event_reset, op::event_destroy}) {
    EXPECT_EQ(status(3, what, e), QUIRE_NOT_FOUND);
    EXPECT_EQ(status(3, what, 0), QUIRE_INVALID);
  }
  c.expect_rest();
}

TEST_F(objects, barrier_of_some_threads_releases_each_node_with_one_message) {
  const auto b = make(0, op::barrier_create, 4);
  const auto a1 = waiting(1, op::barrier_wait, b, 0);
  const auto a2 = waiting(1, op::barrier_wait, b, 1);
  const auto a3 = waiting(2, op::barrier_wait, b, 0);
  EXPECT_EQ(c.take_messages(), 3u);
  EXPECT_EQ(status(0, op::barrier_wait, b), QUIRE_OK);
  EXPECT_EQ(c.take_messages(), 2u);
  for (const auto t : {a1, a2, a3}) EXPECT_EQ(c.status_of(t), QUIRE_OK);
  c.expect_rest();
}

TEST_F(objects, barrier_a_thread_in_the_next_round_is_not_taken_for_one_of_the_last) {
  const auto b = make(0, op::barrier_create, 2);
  const auto first = c.start(1, make_call(op::barrier_wait, b, 0));
  const auto second = c.start(1, make_call(op::barrier_wait, b, 1));
  c.deliver_first();
  c.deliver_first();  // the round is complete, its release is on the way
  const auto third = c.start(1, make_call(op::barrier_wait, b, 2));
  c.settle();
  EXPECT_EQ(c.status_of(first), QUIRE_OK);
  EXPECT_EQ(c.status_of(second), QUIRE_OK);
  EXPECT_TRUE(c.is_open(third));
  EXPECT_EQ(status(3, op::barrier_wait, b), QUIRE_OK);
  EXPECT_EQ(c.status_of(third), QUIRE_OK);
  c.expect_rest();
}

TEST_F(objects, barrier_takes_no_cancel_and_ends_when_destroyed) {
  EXPECT_EQ(status(0, op::barrier_create, 0, 0, 0), QUIRE_INVALID);
  EXPECT_EQ(status(0, op::barrier_create, 0, 0, std::uint64_t{1} << 32), QUIRE_INVALID);
  const auto b = make(0, op::barrier_create, 3);
  const auto a = waiting(1, op::barrier_wait, b);
  c.cancel(1, a);
  c.settle();
  EXPECT_TRUE(c.is_open(a));
  EXPECT_EQ(status(2, op::barrier_destroy, b), QUIRE_OK);
  EXPECT_EQ(c.status_of(a), QUIRE_NOT_FOUND);
  EXPECT_EQ(status(2, op::barrier_wait, b), QUIRE_NOT_FOUND);
  EXPECT_EQ(status(2, op::barrier_destroy, b), QUIRE_NOT_FOUND);
  EXPECT_EQ(status(2, op::barrier_destroy, 0), QUIRE_INVALID);
  c.expect_rest();
}

TEST_F(objects, a_lost_peer_ends_all_that_waits_and_later_calls) {
  const auto m = make(0, op::mutex_create);
  const auto v = make(2, op::condition_create);
  const auto s = make(2, op::semaphore_create);
  const auto e = make(2, op::event_create);
  const auto l = make(2, op::rwlock_create);
  const auto b = make(2, op::barrier_create, 2);
  EXPECT_EQ(status(1, op::mutex_lock, m, 0), QUIRE_OK);
  EXPECT_EQ(status(1, op::rwlock_write_lock, l, 0), QUIRE_OK);
  std::vector<std::uint64_t> open;
  open.push_back(c.start(1, make_call(op::condition_wait, v, 0, m)));
  c.settle();
  EXPECT_EQ(status(1, op::mutex_lock, m, 1), QUIRE_OK);
  open.push_back(waiting(1, op::mutex_lock, m, 2));
  open.push_back(waiting(1, op::semaphore_acquire, s, 3));
  open.push_back(waiting(1, op::event_wait, e, 4));
  open.push_back(waiting(1, op::rwlock_read_lock, l, 5));
  open.push_back(waiting(1, op::barrier_wait, b, 6));
  open.push_back(waiting(1, op::barrier_wait, 0, 7));
  c.lose_peer(1);
  for (const auto t : open) EXPECT_EQ(c.status_of(t), QUIRE_PEER_LOST);
  EXPECT_EQ(status(1, op::mutex_lock, m, 9), QUIRE_PEER_LOST);
  EXPECT_EQ(status(1, op::mutex_unlock, m, 9), QUIRE_NOT_OWNER);
  EXPECT_EQ(status(1, op::mutex_unlock, m, 1), QUIRE_OK);
  EXPECT_EQ(status(1, op::rwlock_unlock, l, 0), QUIRE_OK);
  EXPECT_EQ(status(1, op::rwlock_unlock, l, 0), QUIRE_PEER_LOST);
  EXPECT_EQ(status(1, op::event_create, 0), QUIRE_PEER_LOST);
  // Others that have not heard of it yet are still served, and late answers find nobody.
  EXPECT_EQ(status(3, op::event_set, e), QUIRE_OK);
  EXPECT_EQ(status(3, op::semaphore_release, s, 0, 1), QUIRE_OK);
  EXPECT_EQ(status(3, op::condition_notify_all, v), QUIRE_OK);
  EXPECT_EQ(status(3, op::barrier_wait, b), QUIRE_OK);
  EXPECT_EQ(status(3, op::mutex_lock, m), QUIRE_OK);
  c.lose_peer(1);
  c.expect_rest();
}

}  // namespace
}  // namespace quire::sync::sync_objects_test
