// SPDX-License-Identifier: BSD-3-Clause
// Synchronisation objects that come back from a checkpoint, on fewer and more nodes: by the same handles, free, with
// their values.
#include "sync_cluster.hpp"

namespace quire::sync::sync_saved_test {
namespace {

using op = operation;

struct handles {
  std::uint64_t mutex, rwlock, condition, barrier, event, unset, semaphore;
};

class saved : public testing::TestWithParam<unsigned> {
 protected:
  static std::uint64_t make(cluster& c, unsigned n, op what, std::uint64_t operand = 0) {
    return c.run(n, make_call(what, 0, 0, operand))->object;
  }
  /// Objects of each kind made by each of four nodes, some of them held and waited for.
  void SetUp() override {
    for (unsigned n = 0; n < 4; ++n) {
      handles h{make(before_, n, op::mutex_create),           make(before_, n, op::rwlock_create),
                make(before_, n, op::condition_create),       make(before_, n, op::barrier_create, 2),
                make(before_, n, op::event_create),           make(before_, n, op::event_create),
                make(before_, n, op::semaphore_create, n + 1)};
      EXPECT_EQ(before_.status_of((n + 1) % 4, make_call(op::mutex_lock, h.mutex, 5)),
                QUIRE_OK);  // the token is elsewhere, and held
      EXPECT_EQ(before_.status_of((n + 2) % 4, make_call(op::mutex_lock, h.mutex, 6)), waits);
      EXPECT_EQ(before_.status_of(n, make_call(op::rwlock_write_lock, h.rwlock, 5)), QUIRE_OK);
      EXPECT_EQ(before_.status_of(n, make_call(op::barrier_wait, h.barrier, 7)), waits);
      EXPECT_EQ(before_.status_of(n, make_call(op::event_set, h.event)), QUIRE_OK);
      all_.push_back(h);
    }
    const auto gone = make(before_, 1, op::event_create);
    EXPECT_EQ(before_.status_of(2, make_call(op::event_destroy, gone)), QUIRE_OK);
    gone_ = gone;
  }
  static std::vector<saved_objects> save(cluster& c) {
    std::vector<saved_objects> all;
    for (unsigned n = 0; n < c.nodes(); ++n) all.push_back(c.at(n).save());
    return all;
  }
  static void load(cluster& c, const std::vector<saved_objects>& all) {
    for (unsigned n = 0; n < c.nodes(); ++n) ASSERT_TRUE(c.at(n).load(all));
  }
  /// From the last node, which may be any.
  static void expect_as_saved(cluster& c, const handles& h, std::uint64_t count) {
    const unsigned n = c.nodes() - 1;
    EXPECT_EQ(c.status_of(n, make_call(op::mutex_lock, h.mutex, 1)), QUIRE_OK);
    EXPECT_EQ(c.status_of(0, make_try(op::mutex_lock, h.mutex, 2)), QUIRE_BUSY);
    EXPECT_EQ(c.status_of(n, make_call(op::mutex_unlock, h.mutex, 1)), QUIRE_OK);
    EXPECT_EQ(c.status_of(n, make_call(op::rwlock_read_lock, h.rwlock, 1)), QUIRE_OK);
    EXPECT_EQ(c.status_of(n, make_call(op::rwlock_unlock, h.rwlock, 1)), QUIRE_OK);
    EXPECT_EQ(c.status_of(0, make_call(op::condition_notify_all, h.condition)), QUIRE_OK);
    const auto first = c.start(0, make_call(op::barrier_wait, h.barrier, 1));
    c.settle();
    EXPECT_FALSE(c.take(first));
    EXPECT_EQ(c.status_of(n, make_call(op::barrier_wait, h.barrier, 2)), QUIRE_OK);
    EXPECT_EQ(c.status_of(first), QUIRE_OK);
    EXPECT_EQ(c.status_of(n, make_call(op::event_wait, h.event, 1)), QUIRE_OK);
    EXPECT_EQ(c.status_of(n, make_try(op::event_wait, h.unset, 1)), QUIRE_BUSY);
    for (; count != 0; --count) EXPECT_EQ(c.status_of(n, make_try(op::semaphore_acquire, h.semaphore, 1)), QUIRE_OK);
    EXPECT_EQ(c.status_of(n, make_try(op::semaphore_acquire, h.semaphore, 1)), QUIRE_BUSY);
  }

  cluster before_{4};
  std::vector<handles> all_{};
  std::uint64_t gone_ = 0;
};

TEST_P(saved, objects_are_there_free_and_with_their_values) {
  cluster after(GetParam());
  load(after, save(before_));
  for (unsigned n = 0; n < 4; ++n) expect_as_saved(after, all_[n], n + 1);
  EXPECT_EQ(after.status_of(0, make_try(op::event_wait, gone_)), QUIRE_NOT_FOUND);
  after.expect_rest();
}

TEST_P(saved, no_handle_is_given_twice) {
  cluster after(GetParam());
  load(after, save(before_));
  for (unsigned n = 0; n < after.nodes(); ++n) {
    for (int i = 0; i < 5; ++i) {
      const auto fresh = make(after, n, op::semaphore_create, 100);
      for (const handles& h : all_) EXPECT_NE(fresh, h.semaphore);
      EXPECT_EQ(after.status_of(0, make_try(op::semaphore_acquire, fresh)), QUIRE_OK);
    }
  }
}

TEST_P(saved, a_second_restart_knows_what_the_first_one_knew) {
  cluster between(GetParam()), after(3);
  load(between, save(before_));
  const auto made = make(between, between.nodes() - 1, op::semaphore_create, 2);
  load(after, save(between));
  for (unsigned n = 0; n < 4; ++n) expect_as_saved(after, all_[n], n + 1);
  EXPECT_EQ(after.status_of(2, make_try(op::semaphore_acquire, made)), QUIRE_OK);
  after.expect_rest();
}
INSTANTIATE_TEST_SUITE_P(nodes, saved, testing::Values(1u, 2u, 3u, 4u, 7u));

TEST(saved_objects_that_make_no_sense, are_refused) {
  const auto refuses = [](const saved_objects& what) {
    machine m(node(0), 2);
    const std::vector<saved_objects> all = {what};
    return !m.load(all);
  };
  const auto id = [](object_kind k, unsigned maker, std::uint64_t counter) {
    return make_object_id(k, node(maker), counter).value();
  };
  EXPECT_FALSE(refuses({3, 2, {{id(object_kind::event, 0, 3), 1}}}));
  EXPECT_TRUE(refuses({3, 2, {{id(object_kind::event, 0, 4), 1}}}));  // beyond what was made
  EXPECT_TRUE(refuses({3, 2, {{id(object_kind::event, 2, 1), 1}}}));  // by nobody
  EXPECT_TRUE(refuses({3, 2, {{id(object_kind::none, 0, 1), 1}}}));
  EXPECT_TRUE(refuses({3, 2, {{id(static_cast<object_kind>(9), 0, 1), 1}}}));
  EXPECT_TRUE(refuses({3, 2, {{id(object_kind::barrier, 0, 1), 0}}}));
  EXPECT_TRUE(refuses({3, 2, {{id(object_kind::event, 0, 1), 0}, {id(object_kind::event, 0, 1), 1}}}));
  EXPECT_TRUE(refuses({3, 100'000, {}}));
  machine used(node(0), 2);
  actions out;
  used.on_call(make_call(operation::event_create), out);
  EXPECT_FALSE(used.load({}));
}

}  // namespace
}  // namespace quire::sync::sync_saved_test
