// SPDX-License-Identifier: BSD-3-Clause
// Mutexes of threads that lock again at once, as transcripts (lock_linger.cpp): how long one stays, and for whom.
#include "sync_locks.hpp"

namespace quire::sync::sync_linger_test {
namespace {

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

}  // namespace
}  // namespace quire::sync::sync_linger_test
