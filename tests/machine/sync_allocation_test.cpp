// SPDX-License-Identifier: BSD-3-Clause
// What has been done before allocates nothing when it is done again: locks that move, barriers, waits, reductions.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <new>

#include "sync/machine.hpp"

namespace {
std::uint64_t g_allocations = 0;
}

// Not inlined: else GCC sees malloc() beside operator delete, and warns.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++g_allocations;
  void* const p = std::malloc(bytes);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace quire::sync::sync_allocation_test {
namespace {

using op = operation;

/// Three nodes with a message queue of fixed size.
class nodes {
 public:
  std::uint64_t call_on(unsigned n, op what, std::uint64_t object = 0, std::uint64_t operand = 0) {
    call c;
    c.what = what;
    c.token = ++tokens_;
    c.object = object;
    c.operand = operand;
    if (what == op::reduce_f64) {
      const double one = 1;
      c.count = 1;
      c.values = value(std::as_bytes(std::span(&one, 1)));
    }
    out_.clear();
    machines_[n].on_call(c, out_);
    perform();
    return object_;
  }
  void settle() {
    while (first_ != last_) {
      const action next = queue_[first_++ % queue_.size()];
      out_.clear();
      machines_[next.to.value()].on_message(next.m, next.values.bytes(), out_);
      perform();
    }
  }
  [[nodiscard]] std::uint64_t completed() const { return completed_; }
  [[nodiscard]] std::uint64_t called() const { return tokens_; }

 private:
  void perform() {
    for (const action& a : out_) {
      if (a.kind == action_kind::send) {
        queue_[last_++ % queue_.size()] = a;
      } else {
        EXPECT_EQ(a.status, QUIRE_OK);
        object_ = a.object;
        ++completed_;
      }
    }
  }
  std::array<machine, 3> machines_{machine(node_id{0}, 3), machine(node_id{1}, 3), machine(node_id{2}, 3)};
  std::array<action, 64> queue_{};
  std::size_t first_ = 0, last_ = 0;
  actions out_;
  std::uint64_t tokens_ = 0, completed_ = 0, object_ = 0;
};

struct objects {
  std::uint64_t mutex, rwlock, condition, semaphore, event, barrier;
};

void everything_once(nodes& w, const objects& o) {
  constexpr std::array turns = {1u, 0u, 2u};  // node 1 has it from the last time
  for (const unsigned n : turns) w.call_on(n, op::mutex_lock, o.mutex);
  w.settle();
  for (const unsigned n : turns) {
    w.call_on(n, op::mutex_unlock, o.mutex);
    w.settle();
  }
  w.call_on(1, op::mutex_lock, o.mutex);
  w.settle();
  w.call_on(1, op::condition_wait, o.condition, o.mutex);
  w.settle();
  w.call_on(2, op::condition_notify_one, o.condition);
  w.settle();
  w.call_on(1, op::mutex_unlock, o.mutex);
  for (unsigned n = 0; n < 3; ++n) {
    w.call_on(n, op::rwlock_read_lock, o.rwlock);
    w.settle();
    w.call_on(n, op::rwlock_unlock, o.rwlock);
    w.call_on(n, op::semaphore_acquire, o.semaphore);
  }
  w.call_on(1, op::semaphore_release, o.semaphore, 3);
  w.settle();
  w.call_on(2, op::event_wait, o.event);
  w.call_on(1, op::event_set, o.event);
  w.settle();
  w.call_on(1, op::event_reset, o.event);
  w.settle();
  for (const op what : {op::barrier_wait, op::reduce_f64, op::broadcast}) {
    for (unsigned n = 0; n < 3; ++n) w.call_on(n, what);
    w.settle();
  }
  for (unsigned n = 0; n < 3; ++n) w.call_on(n, op::barrier_wait, o.barrier);
  w.settle();
}

TEST(allocation, none_when_it_is_done_again) {
  nodes w;
  const objects o{w.call_on(1, op::mutex_create),     w.call_on(1, op::rwlock_create),
                  w.call_on(2, op::condition_create), w.call_on(0, op::semaphore_create),
                  w.call_on(1, op::event_create),     w.call_on(2, op::barrier_create, 0, 3)};
  for (int i = 0; i < 10; ++i) everything_once(w, o);
  const std::uint64_t before = g_allocations;
  EXPECT_GT(before, 0u);
  for (int i = 0; i < 1000; ++i) everything_once(w, o);
  EXPECT_EQ(g_allocations, before);
  EXPECT_EQ(w.completed(), w.called());
}

}  // namespace
}  // namespace quire::sync::sync_allocation_test
