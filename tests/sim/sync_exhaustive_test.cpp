// SPDX-License-Identifier: BSD-3-Clause
// Every order in which small configurations can run: three nodes, two to four threads, a few calls each, cancels at
// any moment, messages in any order, but for the one that mutexes need (`keeps`): transports keep more. Orders that
// differ only in what happens on different nodes are the same run to a machine and are tried once (sleep sets,
// Godefroid 1996). For this to be sound the checker does not look at the order of a run, but at causes: whoever takes a
// mutex must know, by a chain of messages, of every unlock before. And a message may wait only for others to its node.
#include <gtest/gtest-spi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <string>

#include "../machine/sync_cluster.hpp"

namespace quire::sync::sync_exhaustive_test {
namespace {

using op = operation;

/// A step of a thread. `can_time_out`: a cancel may come at any moment while it waits.
struct step {
  op what{};
  bool try_only = false;
  bool can_time_out = false;
};
constexpr step lock{op::mutex_lock}, try_lock{op::mutex_lock, true}, timed_lock{op::mutex_lock, false, true};
constexpr step unlock{op::mutex_unlock}, destroy{op::mutex_destroy};
constexpr step wait{op::condition_wait}, timed_wait{op::condition_wait, false, true}, notify{op::condition_notify_one};
constexpr step acquire{op::semaphore_acquire}, timed_acquire{op::semaphore_acquire, false, true},
    release{op::semaphore_release};
constexpr step read_lock{op::rwlock_read_lock}, timed_write_lock{op::rwlock_write_lock, false, true};
constexpr step write_lock{op::rwlock_write_lock}, rw_unlock{op::rwlock_unlock};

struct thread_plan {
  unsigned node = 0;
  std::vector<step> steps;
};

/// An event that can happen next, named the same in all runs that are alike to its node.
struct event {
  enum class type : std::uint8_t { deliver, call, cancel } what = type::deliver;
  unsigned node = 0;  ///< where it happens; events of different nodes do not depend on each other
  unsigned who = 0;   ///< sender, or thread
  std::uint32_t number = 0;
  friend bool operator==(const event&, const event&) = default;
};

/// What is broken, to see whether the checkers notice.
enum class mutation : std::uint8_t {
  none,
  overtaking,  ///< orders to the node that has the token overtake the grant to it
  forgetting,  ///< the home forgets whom it gave the token, and its orders go to itself, where they do nothing
};

/// Whether the two messages, from one node to one other, must arrive in the order in which they were sent.
bool keeps(const message& first, const message& second) {
  const kind k = kind_of(second.kind);
  return kind_of(first.kind) == kind::lock_grant && (k == kind::lock_pass || k == kind::lock_revoke);
}

constexpr unsigned nodes = 3;
using clock_vector = std::array<std::uint32_t, nodes>;

class run {
 public:
  run(const std::vector<thread_plan>& plans, mutation broken) : plans_(plans), broken_(broken), threads_(plans.size()) {
    mutex_ = c_.run(0, make_call(op::mutex_create))->object;
    condition_ = c_.run(0, make_call(op::condition_create))->object;
    semaphore_ = c_.run(0, make_call(op::semaphore_create, 0, 0, 1))->object;
    rwlock_ = c_.run(0, make_call(op::rwlock_create))->object;
    (void)c_.take_news();
  }

  [[nodiscard]] std::vector<event> enabled() const {
    std::vector<event> all;
    for (const in_flight& f : c_.bag()) {
      if (can_arrive(f)) all.push_back({event::type::deliver, f.to.value(), f.m.from.value(), f.number});
    }
    for (unsigned t = 0; t < threads_.size(); ++t) {
      const thread& me = threads_[t];
      if (me.token == 0 && me.next < plans_[t].steps.size()) all.push_back({event::type::call, plans_[t].node, t, 0});
      if (me.token != 0 && !me.cancelled && plans_[t].steps[me.next].can_time_out) {
        all.push_back({event::type::cancel, plans_[t].node, t, 0});
      }
    }
    return all;
  }

  void perform(const event& e) {
    ++clocks_[e.node][e.node];
    switch (e.what) {
      case event::type::deliver:
        deliver(e);
        break;
      case event::type::call:
        begin_call(e.who);
        break;
      case event::type::cancel:
        threads_[e.who].cancelled = true;
        c_.cancel(e.node, threads_[e.who].token);
        break;
    }
    for (const in_flight& f : c_.bag()) {  // what this event has sent carries what its node knows
      if (f.m.from.value() == e.node && f.number >= sent_clocks_[e.node].size())
        sent_clocks_[e.node].push_back(clocks_[e.node]);
    }
    for (const std::uint64_t token : c_.take_news()) {
      const auto found =
          std::find_if(threads_.begin(), threads_.end(), [&](const thread& t) { return t.token == token; });
      if (found != threads_.end()) end_call(static_cast<unsigned>(found - threads_.begin()), c_.take(token)->status);
    }
  }

  /// A cancel that misses its request is repeated for as long as the answer is kept back, in principle for ever. How
  /// often it has missed is the same in all runs that are alike.
  [[nodiscard]] bool goes_round() const { return missed_ > 1; }

  void expect_end() {
    c_.expect_rest();
    for (unsigned t = 0; t < threads_.size(); ++t)
      EXPECT_EQ(threads_[t].next, plans_[t].steps.size()) << "thread " << t << " waits for ever";
    EXPECT_EQ(c_.tokens_of(mutex_), destroyed_ ? 0u : 1u);
    EXPECT_EQ(permits_, 1);
  }

 private:
  struct thread {
    std::size_t next = 0;
    std::uint64_t token = 0;
    bool cancelled = false;
    bool in_mutex = false, has_permit = false, reads = false, writes = false;
  };

  [[nodiscard]] bool can_arrive(const in_flight& f) const {
    if (broken_ == mutation::overtaking) return true;
    const kind k = kind_of(f.m.kind);
    if (broken_ == mutation::forgetting && (k == kind::lock_pass || k == kind::lock_revoke)) return false;
    return std::none_of(c_.bag().begin(), c_.bag().end(), [&f](const in_flight& g) {
      return g.m.from == f.m.from && g.to == f.to && g.number < f.number && keeps(g.m, f.m);
    });
  }

  void deliver(const event& e) {
    std::size_t i = 0;
    while (c_.bag()[i].m.from.value() != e.who || c_.bag()[i].number != e.number || c_.bag()[i].to.value() != e.node)
      ++i;
    for (unsigned n = 0; n < nodes; ++n) {
      clocks_[e.node][n] = std::max(clocks_[e.node][n], sent_clocks_[e.who][e.number][n]);
    }
    if (kind_of(c_.bag()[i].m.kind) == kind::cancel_missed) ++missed_;
    c_.deliver(i);
  }

  void begin_call(unsigned t) {
    thread& me = threads_[t];
    const step s = plans_[t].steps[me.next];
    call c = make_call(s.what, object_of_call(s.what), t, s.what == op::condition_wait ? mutex_ : 1);
    c.try_only = s.try_only;
    c.token = 1000 + t * 100 + me.next;
    me.cancelled = false;
    // Unlocking what was not had: there is nothing to check.
    if ((s.what == op::mutex_unlock && !me.in_mutex) || (s.what == op::rwlock_unlock && !me.reads && !me.writes) ||
        (s.what == op::semaphore_release && !me.has_permit)) {
      ++me.next;
      return;
    }
    if (s.what == op::mutex_unlock || s.what == op::condition_wait) leave_mutex(t);
    if (s.what == op::rwlock_unlock) leave_rwlock(t);
    if (s.what == op::semaphore_release) {
      me.has_permit = false;
      ++permits_;
    }
    if (s.what == op::mutex_destroy) destroyed_ = true;
    me.token = c.token;
    c_.start(plans_[t].node, c);
  }

  void end_call(unsigned t, quire_status status) {
    thread& me = threads_[t];
    const step s = plans_[t].steps[me.next];
    me.token = 0;
    ++me.next;
    if (status != QUIRE_OK) {
      const bool allowed = (status == QUIRE_BUSY && s.try_only) || (status == QUIRE_TIMED_OUT && me.cancelled) ||
                           ((status == QUIRE_NOT_FOUND || status == QUIRE_NOT_OWNER) && destroyed_);
      EXPECT_TRUE(allowed) << "status " << status << " for operation " << static_cast<int>(s.what);
    }
    if (s.what == op::mutex_lock && status == QUIRE_OK) enter_mutex(t);
    if (s.what == op::condition_wait && (status == QUIRE_OK || status == QUIRE_TIMED_OUT)) enter_mutex(t);
    if (s.what == op::semaphore_acquire && status == QUIRE_OK) {
      me.has_permit = true;
      EXPECT_GE(--permits_, 0);
    }
    if (s.what == op::rwlock_read_lock && status == QUIRE_OK) {
      me.reads = true;
      EXPECT_TRUE(knows(t, write_unlocks_) &&
                  std::none_of(threads_.begin(), threads_.end(), [](auto& x) { return x.writes; }));
    }
    if (s.what == op::rwlock_write_lock && status == QUIRE_OK) {
      EXPECT_TRUE(knows(t, write_unlocks_) && knows(t, read_unlocks_));
      EXPECT_TRUE(std::none_of(threads_.begin(), threads_.end(), [](auto& x) { return x.writes || x.reads; }));
      me.writes = true;
    }
  }

  void enter_mutex(unsigned t) {
    EXPECT_TRUE(std::none_of(threads_.begin(), threads_.end(), [](auto& x) { return x.in_mutex; }))
        << "two in one mutex";
    EXPECT_TRUE(knows(t, unlocks_)) << "took a mutex without knowing of its last unlock";
    threads_[t].in_mutex = true;
  }
  void leave_mutex(unsigned t) {
    threads_[t].in_mutex = false;
    note(t, unlocks_);
  }
  void leave_rwlock(unsigned t) {
    thread& me = threads_[t];
    note(t, me.writes ? write_unlocks_ : read_unlocks_);
    me.reads = me.writes = false;
  }
  /// Per node, the latest unlock there.
  void note(unsigned t, clock_vector& where) { where[plans_[t].node] = clocks_[plans_[t].node][plans_[t].node]; }
  [[nodiscard]] bool knows(unsigned t, const clock_vector& what) const {
    const clock_vector& mine = clocks_[plans_[t].node];
    for (unsigned n = 0; n < nodes; ++n) {
      if (mine[n] < what[n]) return false;
    }
    return true;
  }
  [[nodiscard]] std::uint64_t object_of_call(op what) const {
    switch (object_of(what)) {
      case object_kind::mutex:
        return mutex_;
      case object_kind::condition:
        return condition_;
      case object_kind::rwlock:
        return rwlock_;
      default:
        return semaphore_;
    }
  }

  const std::vector<thread_plan>& plans_;
  mutation broken_;
  cluster c_{nodes};
  std::vector<thread> threads_;
  std::uint64_t mutex_ = 0, condition_ = 0, semaphore_ = 0, rwlock_ = 0;
  int permits_ = 1;
  bool destroyed_ = false;
  unsigned missed_ = 0;
  std::array<clock_vector, nodes> clocks_{};
  std::array<std::vector<clock_vector>, nodes> sent_clocks_{};
  clock_vector unlocks_{}, read_unlocks_{}, write_unlocks_{};
};

class explorer {
 public:
  /// Ends early when `failed` says so.
  explorer(std::vector<thread_plan> plans, mutation broken, std::function<bool()> failed)
      : plans_(std::move(plans)), broken_(broken), failed_(std::move(failed)) {}
  /// Number of runs.
  std::uint64_t explore() {
    current_ = std::make_unique<run>(plans_, broken_);
    from_here({});
    return runs_;
  }

 private:
  void from_here(std::vector<event> asleep) {
    if (current_->goes_round()) return;
    const auto choices = current_->enabled();
    if (choices.empty()) {
      current_->expect_end();
      ++runs_;
      return;
    }
    bool moved = false;
    for (const event& e : choices) {
      if (failed_()) return;
      if (std::find(asleep.begin(), asleep.end(), e) != asleep.end()) continue;
      if (moved) replay();
      moved = true;
      std::vector<event> still;
      std::copy_if(asleep.begin(), asleep.end(), std::back_inserter(still),
                   [&](const event& s) { return s.node != e.node; });
      current_->perform(e);
      past_.push_back(e);
      from_here(std::move(still));
      past_.pop_back();
      asleep.push_back(e);
    }
  }
  void replay() {
    current_ = std::make_unique<run>(plans_, broken_);
    for (const event& e : past_) current_->perform(e);
  }

  std::vector<thread_plan> plans_;
  mutation broken_;
  std::function<bool()> failed_;
  std::unique_ptr<run> current_;
  std::vector<event> past_;
  std::uint64_t runs_ = 0;
};

void explore(const char* what, std::vector<thread_plan> plans) {
  SCOPED_TRACE(what);
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t runs = explorer(std::move(plans), mutation::none, testing::Test::HasFailure).explore();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%-40s %8llu runs, %.2f s\n", what, static_cast<unsigned long long>(runs), took.count());
  EXPECT_GT(runs, 1u);
}

TEST(every_order, mutex) {
  explore("two nodes lock", {{1, {lock, unlock}}, {2, {lock, unlock}}});
  explore("home and another lock", {{0, {lock, unlock}}, {1, {lock, unlock}}});
  explore("two threads of one node lock", {{1, {lock, unlock}}, {1, {lock, unlock}}});
  explore("two nodes try", {{1, {try_lock, unlock}}, {2, {try_lock, unlock}}});
  explore("one locks, one tries", {{1, {lock, unlock}}, {2, {try_lock, unlock}}});
  explore("one node locks and tries", {{1, {lock, unlock}}, {1, {try_lock, unlock}}});
  explore("both time out", {{1, {timed_lock, unlock}}, {2, {timed_lock, unlock}}});
  explore("two nodes lock twice", {{1, {lock, unlock, lock, unlock}}, {2, {lock, unlock, lock, unlock}}});
  explore("two nodes lock and try", {{1, {lock, unlock, try_lock, unlock}}, {2, {try_lock, unlock, lock, unlock}}});
  explore("lock twice against time-outs",
          {{1, {lock, unlock, lock, unlock}}, {2, {timed_lock, unlock, timed_lock, unlock}}});
  explore("three nodes lock", {{0, {lock, unlock}}, {1, {lock, unlock}}, {2, {lock, unlock}}});
  explore("two nodes, three threads", {{1, {lock, unlock}}, {1, {lock, unlock}}, {2, {lock, unlock}}});
  explore("three threads lock, try, time out",
          {{1, {lock, unlock}}, {1, {try_lock, unlock}}, {2, {timed_lock, unlock}}});
  explore("destroyed while two lock", {{1, {lock, unlock}}, {2, {lock, unlock}}, {0, {destroy}}});
  explore("destroyed by a third while one tries", {{0, {lock, unlock}}, {1, {try_lock, unlock}}, {2, {destroy}}});
  explore("destroyed at the home while one waits", {{0, {lock, unlock}}, {0, {destroy}}, {1, {timed_lock, unlock}}});
  explore("home and another lock twice", {{0, {lock, unlock, lock, unlock}}, {1, {lock, unlock, lock, unlock}}});
  explore("home tries, another times out",
          {{0, {try_lock, unlock, lock, unlock}}, {1, {timed_lock, unlock, timed_lock, unlock}}});
  explore("three nodes, two of them twice",
          {{0, {lock, unlock}}, {1, {lock, unlock, lock, unlock}}, {2, {lock, unlock, lock, unlock}}});
  explore("two threads of the home and two nodes",
          {{0, {lock, unlock}}, {0, {lock, unlock}}, {1, {timed_lock, unlock}}, {2, {try_lock, unlock}}});
  explore("three nodes lock, destroyed",
          {{0, {lock, unlock}}, {1, {lock, unlock}}, {2, {lock, unlock}}, {2, {destroy}}});
}

TEST(every_order, condition) {
  explore("wait and notify", {{1, {lock, timed_wait, unlock}}, {2, {lock, notify, unlock}}});
  explore("notify without the mutex", {{1, {lock, timed_wait, unlock}}, {2, {notify}}});
  explore("notify at the home", {{1, {lock, timed_wait, unlock}}, {0, {notify}}});
  explore("wait at the home", {{0, {lock, timed_wait, unlock}}, {1, {lock, notify, unlock}}});
  explore("the mutex destroyed meanwhile", {{1, {lock, timed_wait, unlock}}, {2, {destroy}}});
}

/// What the checkers say of a broken run; nothing if they do not notice.
std::string complaint(std::vector<thread_plan> plans, mutation broken) {
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    (void)explorer(std::move(plans), broken, [&] { return results.size() != 0; }).explore();
  }
  std::string text;
  for (int i = 0; i < results.size(); ++i) text += results.GetTestPartResult(i).message();
  return text;
}
void expect_for_ever(const char* what, mutation broken, const std::vector<thread_plan>& plans) {
  const std::string text = complaint(plans, broken);
  EXPECT_NE(text.find("waits for ever"), std::string::npos) << what << ": " << text;
  EXPECT_EQ(complaint(plans, mutation::none), "") << what;
}

TEST(mutation, an_order_overtakes_the_grant) {
  expect_for_ever("pass", mutation::overtaking, {{1, {lock, unlock}}, {2, {lock, unlock}}});
  expect_for_ever("pass to the home", mutation::overtaking, {{0, {lock, unlock}}, {1, {lock, unlock}}});
  expect_for_ever("pass of a try", mutation::overtaking, {{1, {lock, unlock}}, {2, {try_lock, unlock}}});
  expect_for_ever("revoke", mutation::overtaking, {{1, {lock, unlock}}, {2, {destroy}}});
}

TEST(mutation, the_home_forgets_whom_it_gave_the_token) {
  expect_for_ever("pass", mutation::forgetting, {{1, {lock, unlock}}, {2, {lock, unlock}}});
  expect_for_ever("pass to the home", mutation::forgetting, {{1, {lock, unlock}}, {0, {lock, unlock}}});
  expect_for_ever("revoke", mutation::forgetting, {{1, {lock, unlock}}, {0, {destroy}}});
}

TEST(every_order, semaphore) {
  explore("two nodes acquire", {{1, {acquire, release}}, {2, {acquire, release}}});
  explore("two nodes time out", {{1, {timed_acquire, release}}, {2, {timed_acquire, release}}});
  explore("three nodes", {{0, {acquire, release}}, {1, {timed_acquire, release}}, {2, {acquire, release}}});
}

TEST(every_order, rwlock) {
  explore("two readers, one writer",
          {{0, {read_lock, rw_unlock}}, {1, {read_lock, rw_unlock}}, {2, {write_lock, rw_unlock}}});
  explore("a writer gives up",
          {{0, {write_lock, rw_unlock}}, {1, {timed_write_lock, rw_unlock}}, {2, {read_lock, rw_unlock}}});
}

}  // namespace
}  // namespace quire::sync::sync_exhaustive_test
