// SPDX-License-Identifier: BSD-3-Clause
// Conditions as transcripts: who sends what, who is woken, and what a wrong call gets.
#include "sync_locks.hpp"

namespace quire::sync::sync_condition_test {
namespace {

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
}  // namespace quire::sync::sync_condition_test
