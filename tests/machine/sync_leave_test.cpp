// SPDX-License-Identifier: BSD-3-Clause
// Nodes leave, and others die: whether the next owner of a mutex hears of a dead one.
#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "sync/machine.hpp"

namespace quire::sync::sync_leave_test {
namespace {

constexpr node_id node(unsigned n) { return node_id{static_cast<std::uint16_t>(n)}; }

/// One node of three, the others of which go.
class survivor {
 public:
  explicit survivor(unsigned self) : machine_(node(self), 3) {}

  void hear(std::uint64_t gone, std::uint64_t left) {
    machine_.cut(gone, actions_, left);
    perform();
  }
  void go_on() {
    machine_.report(actions_, 0);
    perform();
    machine_.settle(actions_);
    perform();
    machine_.resume(actions_);
    perform();
  }
  /// Of a mutex that `maker` has made.
  quire_status lock(unsigned maker) {
    call c;
    c.what = operation::mutex_lock;
    c.object = make_object_id(object_kind::mutex, node(maker), 1).value();
    c.token = 1;
    machine_.on_call(c, actions_);
    perform();
    return status_;
  }

 private:
  void perform() {
    std::deque<message> own;
    for (;;) {
      for (const action& a : actions_) {
        if (a.kind == action_kind::send) own.push_back(a.m);
        if (a.kind == action_kind::complete) status_ = a.status;
      }
      actions_.clear();
      if (own.empty()) return;
      machine_.on_message(own.front(), {}, actions_);
      own.pop_front();
    }
  }

  machine machine_;
  actions actions_;
  quire_status status_ = QUIRE_TIMED_OUT;
};

TEST(sync_leave, mutexes_of_who_leaves_in_peace_are_free) {
  survivor s(0);
  s.hear(0b010, 0b010);
  s.go_on();
  EXPECT_EQ(s.lock(1), QUIRE_OK);
}

TEST(sync_leave, death_and_leave_of_one_recovery_are_told) {
  survivor s(0);
  s.hear(0b100, 0);
  s.hear(0b110, 0b010);  // who leaves had not heard of the death
  s.go_on();
  EXPECT_EQ(s.lock(1), QUIRE_OWNER_DIED);
}

TEST(sync_leave, death_of_a_later_home_is_told) {
  survivor s(2);
  s.hear(0b010, 0b010);
  s.go_on();
  s.hear(0b011, 0b010);  // the mutex had gone to node 0
  s.go_on();
  EXPECT_EQ(s.lock(1), QUIRE_OWNER_DIED);
}

}  // namespace
}  // namespace quire::sync::sync_leave_test
