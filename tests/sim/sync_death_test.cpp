// SPDX-License-Identifier: BSD-3-Clause
// Nodes die while threads lock, wait and add up, at every step of many schedules; each survivor hears of it at a moment
// of its own, by the launcher or by another one, and a second one dies meanwhile. Nobody waits for ever, a mutex has
// one owner, who hears it if the one before died with it, and a sum is the same on all who see it.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>

#include "sync/machine.hpp"
#include "watch/recovery.hpp"

namespace quire::sync::sync_death_test {
namespace {

using watch::recovery;
using op = operation;

struct item {
  bool marker = false;
  recovery::round round{};
  std::uint64_t dead = 0;
  message m{};
  value values{};
};

class world {
 public:
  static constexpr unsigned threads_each = 2, laps = 3;
  world(unsigned nodes, unsigned seed, std::vector<std::pair<unsigned, unsigned>> deaths)
      : nodes_(nodes),
        draw_(seed),
        deaths_(std::move(deaths)),
        channels_(nodes * nodes),
        sums_(nodes),
        threads_(nodes * threads_each) {
    for (unsigned n = 0; n < nodes; ++n) {
      machines_.push_back(std::make_unique<machine>(node_of(n), nodes));
      recoveries_.emplace_back(n, nodes);
    }
    for (unsigned i = 0; i < 2; ++i) {
      mutexes_.push_back(make(op::mutex_create, i));
      rwlock_ = make(op::rwlock_create, nodes - 1);
    }
  }

  /// How many steps it took; 0 if it never ended.
  unsigned run() {
    for (unsigned step = 1; step < 20'000; ++step) {
      for (const auto& [at, who] : deaths_)
        if (at == step) kill(who);
      if (one_step()) continue;
      compare_sums();
      return finished() ? step : 0;
    }
    return 0;
  }
  [[nodiscard]] std::string failure() const { return failure_; }
  /// Of each thread what it is at, its lap and stage; then the oldest messages.
  [[nodiscard]] std::string picture() const {
    std::string text;
    for (const thread& t : threads_)
      text += " " + std::to_string(t.at) + "/" + std::to_string(t.lap) + "." + std::to_string(t.stage);
    for (unsigned c = 0; c < channels_.size(); ++c) {
      if (channels_[c].empty()) continue;
      const item& i = channels_[c].front();
      text += "; " + std::to_string(c / nodes_) + ">" + std::to_string(c % nodes_) +
              (i.marker ? " marker" : " kind " + std::to_string(static_cast<int>(kind_of(i.m.kind))));
    }
    return text;
  }

  static inline unsigned stays = 0;  ///< times that a mutex was kept for a moment, in all runs

 private:
  struct thread {
    enum { idle, waits, holds, done } at = idle;
    unsigned lap = 0, stage = 0, mutex = 0;
    bool reading = false, unlocks = false, again = false;
    bool awaits = false, has_awaited = false;  ///< node 0: the others, before its own call
  };
  struct lock_state {
    int holder = -1;  ///< thread
    bool orphan = false;
  };
  static node_id node_of(unsigned n) { return node_id{static_cast<std::uint16_t>(n)}; }
  [[nodiscard]] bool dead(unsigned n) const { return (dead_ >> n & 1) != 0; }
  void check(bool holds, const char* what) {
    if (!holds && failure_.empty()) failure_ = what;
  }
  std::uint64_t make(op what, unsigned n) {
    call c;
    c.what = what;
    c.token = ~std::uint64_t{0};
    actions out;
    machines_[n]->on_call(c, out);
    return out[0].object;
  }
  unsigned below(unsigned limit) { return static_cast<unsigned>(draw_() % limit); }

  void kill(unsigned who) {
    if (dead(who)) return;
    dead_ |= std::uint64_t{1} << who;
    for (unsigned n = 0; n < nodes_; ++n) {  // of what it has sent, the last may be lost
      auto& out = channels_[who * nodes_ + n];
      while (!out.empty() && below(2) == 0) out.pop_back();
      channels_[n * nodes_ + who].clear();
    }
    for (unsigned t = who * threads_each; t < (who + 1) * threads_each; ++t) {
      for (auto& l : locks_)
        if (l.holder == static_cast<int>(t)) l = {-1, true};
      if (readers_.erase(t) != 0) continue;
      if (writer_ == static_cast<int>(t)) {
        writer_ = -1;
        rwlock_orphan_ = true;
      }
    }
  }

  /// A thread does something, a message arrives, or a node hears of deaths. False if there is nothing to do.
  bool one_step() {
    std::vector<unsigned> runnable, full, deaf;
    for (unsigned t = 0; t < threads_.size(); ++t)
      if (!dead(t / threads_each) && (threads_[t].at == thread::idle || threads_[t].at == thread::holds))
        runnable.push_back(t);
    for (unsigned c = 0; c < channels_.size(); ++c)
      if (!channels_[c].empty() && !dead(c % nodes_)) full.push_back(c);
    for (unsigned n = 0; n < nodes_; ++n)
      if (!dead(n) && (dead_ & ~recoveries_[n].dead()) != 0) deaf.push_back(n);
    if (!lingers_.empty() && below(4) == 0) return end_linger(), true;
    const auto all = static_cast<unsigned>(runnable.size() + full.size() + deaf.size());
    if (all == 0 && !lingers_.empty()) return end_linger(), true;
    if (all == 0) return false;
    unsigned pick = below(all);
    if (pick < runnable.size()) return step(runnable[pick]), true;
    pick -= static_cast<unsigned>(runnable.size());
    if (pick < full.size()) return arrive(full[pick]), true;
    const unsigned n = deaf[pick - full.size()];
    recover(n, recoveries_[n].on_deaths(dead_));
    return true;
  }
  void end_linger() {
    const auto [n, object] = lingers_.front();
    lingers_.pop_front();
    if (dead(n)) return;
    actions out;
    machines_[n]->on_linger_over(object, out);
    perform(n, out);
  }
  /// Of those who live: nobody can ask the dead what they have seen.
  void compare_sums() {
    const std::vector<std::int64_t>* first = nullptr;
    for (unsigned n = 0; n < nodes_; ++n) {
      if (dead(n)) continue;
      check(first == nullptr || *first == sums_[n], "a sum differs between nodes");
      first = &sums_[n];
    }
  }
  bool finished() {
    for (unsigned t = 0; t < threads_.size(); ++t)
      if (!dead(t / threads_each) && threads_[t].at != thread::done) return false;
    return true;
  }

  void step(unsigned t) {
    thread& me = threads_[t];
    call c;
    c.thread = t % threads_each;
    c.token = t + 1;
    if (me.at == thread::holds) {
      const bool mutex = me.stage == 0;
      c.what = mutex ? op::mutex_unlock : op::rwlock_unlock;
      c.object = mutex ? mutexes_[me.mutex] : rwlock_;
      if (mutex) {
        locks_[me.mutex].holder = -1;
      } else {
        readers_.erase(t);
        if (writer_ == static_cast<int>(t)) writer_ = -1;
      }
      me.again = mutex && below(3) != 0;
      if (!me.again) ++me.stage;
      me.unlocks = true;
    } else if (me.lap == laps) {
      me.at = thread::done;
      return;
    } else if (me.stage == 0) {
      if (!me.again) me.mutex = below(2);
      c.what = op::mutex_lock;
      c.object = mutexes_[me.mutex];
    } else if (me.stage == 1) {
      me.reading = below(2) == 0;
      c.what = me.reading ? op::rwlock_read_lock : op::rwlock_write_lock;
      c.object = rwlock_;
    } else if (t == 0 && !std::exchange(me.has_awaited, true)) {
      c.what = op::await_nodes;
      me.awaits = true;
    } else if (t % threads_each == 0) {
      me.has_awaited = false;
      c.what = op::reduce_i64;
      c.count = 1;
      const std::int64_t bit = std::int64_t{1} << (t / threads_each);
      c.values = value(std::as_bytes(std::span(&bit, 1)));
    } else {
      ++me.lap;
      me.stage = 0;
      return;
    }
    me.at = thread::waits;
    c.now_ns = now_ns_ += 100;
    actions out;
    machines_[t / threads_each]->on_call(c, out);
    perform(t / threads_each, out);
  }

  void complete(unsigned t, const action& a) {
    thread& me = threads_[t];
    check(me.at == thread::waits, "a call has ended twice");
    me.at = thread::idle;
    const bool locks = a.status == QUIRE_OK || a.status == QUIRE_OWNER_DIED;
    if (std::exchange(me.unlocks, false)) return check(a.status == QUIRE_OK, "an unlock failed");
    if (std::exchange(me.awaits, false)) return check(a.status == QUIRE_OK, "the others could not be waited for");
    if (me.stage == 0) {
      check(locks, "a mutex could not be locked");
      lock_state& l = locks_[me.mutex];
      check(l.holder < 0, "a mutex has two owners");
      check(!l.orphan || a.status == QUIRE_OWNER_DIED, "an owner has died, and the next one does not hear it");
      l = {static_cast<int>(t), false};
      me.at = thread::holds;
    } else if (me.stage == 1) {
      if (a.status == QUIRE_LOST) {
        check(dead(nodes_ - 1), "a lock is lost though its home lives");
        me.stage = 2;
        return;
      }
      check(locks, "a reader-writer lock could not be locked");
      check(writer_ < 0 && (me.reading || readers_.empty()), "a reader-writer lock is shared wrongly");
      check(!rwlock_orphan_ || a.status == QUIRE_OWNER_DIED, "a writer has died, and the next one does not hear it");
      if (!me.reading) rwlock_orphan_ = false;
      if (me.reading) {
        readers_[t] = true;
      } else {
        writer_ = static_cast<int>(t);
      }
      me.at = thread::holds;
    } else {
      check(a.status == QUIRE_OK, "a sum could not be had");
      std::int64_t sum = 0;
      std::copy_n(a.values.bytes().begin(), sizeof sum, reinterpret_cast<std::byte*>(&sum));
      sums_[t / threads_each].push_back(sum);
      check((~sum & ~dead_ & ((std::uint64_t{1} << nodes_) - 1)) == 0, "a sum lacks a survivor");
      ++me.lap;
      me.stage = 0;
    }
  }
  void perform(unsigned n, const actions& out) {
    for (const action& a : out) {
      if (a.kind == action_kind::send) {
        if (!dead(a.to.value())) channels_[n * nodes_ + a.to.value()].push_back({false, {}, 0, a.m, a.values});
        continue;
      }
      if (a.kind == action_kind::linger) {
        lingers_.emplace_back(n, a.object);
        ++stays;
        continue;
      }
      complete(static_cast<unsigned>(a.token - 1), a);
    }
    check(machines_[n]->is_valid(), "a machine is not valid");
  }

  void arrive(unsigned c) {
    const item next = channels_[c].front();
    channels_[c].pop_front();
    const unsigned from = c / nodes_, to = c % nodes_;
    recovery& r = recoveries_[to];
    if ((r.dead() >> from & 1) != 0) return;
    if (next.marker) return recover(to, r.on_marker(from, next.round, {.dead = next.dead, .members = r.members()}));
    actions out;
    if (r.is_old(from)) {
      machines_[to]->absorb(next.m, next.values.bytes(), out);
    } else {
      machines_[to]->on_message(next.m, next.values.bytes(), out);
    }
    perform(to, out);
  }
  void recover(unsigned n, recovery::step s) {
    machine& m = *machines_[n];
    const auto part = [&](auto f, recovery::round round) {
      actions out;
      f(out);
      perform(n, out);
      for (unsigned to = 0; round != recovery::round::none && to < nodes_; ++to)
        if (!dead(to) && (recoveries_[n].dead() >> to & 1) == 0)
          channels_[n * nodes_ + to].push_back({true, round, recoveries_[n].dead(), {}, {}});
    };
    if (s.begin) part([&](actions& out) { m.cut(recoveries_[n].dead(), out); }, recovery::round::cut);
    if (s.report) part([&](actions& out) { m.report(out); }, recovery::round::reports);
    if (s.settle) part([&](actions& out) { m.settle(out); }, recovery::round::settled);
    if (s.go_on) part([&](actions& out) { m.resume(out); }, recovery::round::none);
  }

  unsigned nodes_;
  std::mt19937 draw_;
  std::vector<std::pair<unsigned, unsigned>> deaths_;  ///< step, node
  std::vector<std::unique_ptr<machine>> machines_;
  std::vector<recovery> recoveries_;
  std::vector<std::deque<item>> channels_;
  std::vector<std::vector<std::int64_t>> sums_;  ///< by node
  std::vector<thread> threads_;
  std::vector<std::uint64_t> mutexes_;
  std::uint64_t rwlock_ = 0;
  lock_state locks_[2];
  std::map<unsigned, bool> readers_;
  int writer_ = -1;
  bool rwlock_orphan_ = false;
  std::uint64_t dead_ = 0;
  std::uint64_t now_ns_ = 0;
  std::deque<std::pair<unsigned, std::uint64_t>> lingers_;
  std::string failure_;
};

void expect_ends(unsigned nodes, unsigned seed, const std::vector<std::pair<unsigned, unsigned>>& deaths) {
  world w(nodes, seed, deaths);
  const unsigned steps = w.run();
  EXPECT_NE(steps, 0u) << "somebody waits for ever:" << w.picture() << "; nodes " << nodes << ", seed " << seed;
  EXPECT_EQ(w.failure(), "") << "nodes " << nodes << ", seed " << seed;
  if (testing::Test::HasFailure()) {
    for (const auto& [at, who] : deaths) ADD_FAILURE() << "node " << who << " died at step " << at;
  }
}

TEST(sync_deaths, without_any_all_is_well) {
  for (unsigned seed = 0; seed < 50; ++seed) expect_ends(3, seed, {});
}
TEST(sync_deaths, of_one_node_at_every_step) {
  for (unsigned nodes = 2; nodes <= 4; ++nodes)
    for (unsigned seed = 0; seed < 12; ++seed)
      for (unsigned who = 0; who < nodes; ++who)
        for (unsigned step = 1; step < 200 && !HasFailure(); ++step) expect_ends(nodes, seed, {{step, who}});
  EXPECT_GT(world::stays, 1000u);
}
TEST(sync_deaths, of_two_nodes) {
  for (unsigned nodes = 3; nodes <= 5; ++nodes)
    for (unsigned seed = 0; seed < 12; ++seed)
      for (unsigned step = 1; step < 160; step += 3)
        for (unsigned later = 1; later < 40 && !HasFailure(); later += 4)
          expect_ends(nodes, seed, {{step, seed % nodes}, {step + later, (seed + 1 + step % (nodes - 1)) % nodes}});
}

}  // namespace
}  // namespace quire::sync::sync_death_test
