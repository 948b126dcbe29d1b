// SPDX-License-Identifier: BSD-3-Clause
// Nodes die while their threads meet in groups, add up and give each other arrays, at every step of many schedules;
// each survivor hears of it at a moment of its own. Nobody waits for ever, survivors agree on what is small, an array
// is whole or lost, and a group without the dead node notices nothing.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>

#include "sync/machine.hpp"
#include "watch/recovery.hpp"

namespace quire::sync::sync_group_death_test {
namespace {

using watch::recovery;
using op = operation;

struct item {
  bool marker = false;
  recovery::round round{};
  std::uint64_t dead = 0;
  message m{};
  std::vector<std::byte> bytes{};
};

class world {
 public:
  static constexpr unsigned threads_each = 2, laps = 6;
  static constexpr std::size_t array_values = 30;
  static constexpr array_limits small{.piece_bytes = 64, .window = 2};

  world(unsigned nodes, unsigned seed, std::vector<std::pair<unsigned, unsigned>> deaths)
      : nodes_(nodes),
        draw_(seed),
        deaths_(std::move(deaths)),
        channels_(nodes * nodes),
        threads_(2 * nodes * threads_each) {
    std::vector<std::uint32_t> all(nodes, threads_each), some = all;
    some.back() = 0;
    for (unsigned n = 0; n < nodes; ++n) {
      machines_.push_back(std::make_unique<machine>(node_id{static_cast<std::uint16_t>(n)}, nodes, small));
      recoveries_.emplace_back(n, nodes);
      groups_[0] = make(n, all);
      groups_[1] = make(n, some);
    }
    for (unsigned t = 0; t < threads_.size(); ++t) {
      thread& me = threads_[t];
      me.node = t / 2 / threads_each;
      me.group = t % 2;
      me.place = t / 2 % threads_each;
      if (me.group == 1 && me.node == nodes - 1)
        me.lap = laps;  // it is in no such group
      else
        (void)call_once(me.node, op::group_join, groups_[me.group], t, me.place);
      me.array.resize(array_values);
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
  static inline unsigned lost = 0, lost_arrays = 0;

 private:
  enum class phase : std::uint8_t { idle, waits };
  struct thread {
    unsigned node = 0, group = 0, place = 0, lap = 0;
    phase at = phase::idle;
    std::vector<std::int64_t> array{};
  };
  [[nodiscard]] bool dead(unsigned n) const { return (dead_ >> n & 1) != 0; }
  unsigned below(unsigned limit) { return static_cast<unsigned>(draw_() % limit); }
  void check(bool holds, const char* what) {
    if (!holds && failure_.empty()) failure_ = what;
  }
  std::uint64_t call_once(unsigned n, op what, std::uint64_t object, std::uint32_t thread, std::uint64_t operand,
                          std::span<std::byte> data = {}) {
    call c;
    c.what = what;
    c.object = object;
    c.thread = thread;
    c.operand = operand;
    c.data = data;
    actions out;
    machines_[n]->on_call(c, out);
    EXPECT_EQ(out[0].status, QUIRE_OK);
    return out[0].object;
  }
  std::uint64_t make(unsigned n, std::vector<std::uint32_t> threads) {
    return call_once(n, op::group_create, 0, 0, 0, std::as_writable_bytes(std::span(threads)));
  }
  void kill(unsigned who) {
    if (dead(who)) return;
    dead_ |= std::uint64_t{1} << who;
    for (unsigned n = 0; n < nodes_; ++n) {  // of what it has sent, the last may be lost
      auto& out = channels_[who * nodes_ + n];
      while (!out.empty() && below(2) == 0) out.pop_back();
      channels_[n * nodes_ + who].clear();
    }
  }
  bool one_step() {
    std::vector<unsigned> runnable, full, deaf;
    for (unsigned t = 0; t < threads_.size(); ++t)
      if (!dead(threads_[t].node) && threads_[t].at == phase::idle && threads_[t].lap < laps) runnable.push_back(t);
    for (unsigned c = 0; c < channels_.size(); ++c)
      if (!channels_[c].empty() && !dead(c % nodes_)) full.push_back(c);
    for (unsigned n = 0; n < nodes_; ++n)
      if (!dead(n) && (dead_ & ~recoveries_[n].dead()) != 0) deaf.push_back(n);
    const auto all = static_cast<unsigned>(runnable.size() + full.size() + deaf.size());
    if (all == 0) return false;
    unsigned pick = below(all);
    if (pick < runnable.size()) return step(runnable[pick]), true;
    pick -= static_cast<unsigned>(runnable.size());
    if (pick < full.size()) return arrive(full[pick]), true;
    const unsigned n = deaf[pick - full.size()];
    recover(n, recoveries_[n].on_deaths(dead_));
    return true;
  }
  /// Of those who live: nobody can ask the dead what they have seen.
  void compare_sums() {
    for (auto& [where, all] : sums_) {
      std::erase_if(all, [this](const seen& s) { return dead(s.node); });
      for (const seen& s : all) check(s.sum == all.front().sum, "a sum differs between members");
    }
  }
  bool finished() {
    for (const thread& t : threads_)
      if (!dead(t.node) && t.lap < laps) return false;
    return true;
  }

  enum kind_of_lap : unsigned { sum, array_sum, array_from_one, laps_alike };
  [[nodiscard]] unsigned root_of(const thread& me) const {
    const unsigned nodes = me.group == 0 ? nodes_ : nodes_ - 1;
    return (me.lap * 5 + 1) % (nodes * threads_each);
  }
  void step(unsigned t) {
    thread& me = threads_[t];
    call c;
    c.object = groups_[me.group];
    c.thread = t;
    c.token = t + 1;
    const unsigned what = me.lap % laps_alike;
    for (std::size_t i = 0; i < array_values; ++i)
      me.array[i] = std::int64_t{1} << (me.node * threads_each + me.place) |
                    (what == array_from_one ? static_cast<std::int64_t>(i) << 40 : 0);
    const auto bytes = std::as_writable_bytes(std::span(me.array));
    c.what = what == array_from_one ? op::group_broadcast : op::group_reduce_i64;
    c.count = what == sum ? 1 : static_cast<std::uint32_t>(what == array_sum ? array_values : bytes.size());
    if (what == sum)
      c.values = value(bytes.first(sizeof(std::int64_t)));
    else
      c.data = bytes;
    if (what == array_from_one) c.operand = root_of(me);
    me.at = phase::waits;
    actions out;
    machines_[me.node]->on_call(c, out);
    perform(me.node, out);
  }
  void complete(unsigned t, const action& a) {
    thread& me = threads_[t];
    check(me.at == phase::waits, "a call has ended twice");
    me.at = phase::idle;
    const unsigned what = me.lap % laps_alike;
    const bool struck = (dead_ & (me.group == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << (nodes_ - 1)) - 1)) != 0;
    if (a.status == QUIRE_LOST && struck && what != sum) {
      ++(what == array_sum ? lost_arrays : lost);
    } else {
      check(a.status == QUIRE_OK, "a call of a group failed");
      if (a.status == QUIRE_OK) look(me, what, a);
    }
    ++me.lap;
  }
  void look(const thread& me, unsigned what, const action& a) {
    std::int64_t first = me.array[0];
    if (what == sum) std::memcpy(&first, a.values.bytes().data(), sizeof first);
    if (what == array_from_one) {
      for (std::size_t i = 0; i < array_values; ++i)
        check(me.array[i] == (std::int64_t{1} << root_of(me) | static_cast<std::int64_t>(i) << 40),
              "an array is not its root's");
      return;
    }
    for (std::size_t i = 0; what == array_sum && i < array_values; ++i)
      check(me.array[i] == first, "an array is put together of different sums");
    sums_[{me.group, me.lap}].push_back({me.node, first});
    const unsigned nodes = me.group == 0 ? nodes_ : nodes_ - 1;
    for (unsigned n = 0; n < nodes; ++n)
      for (unsigned p = 0; p < threads_each; ++p)
        check(dead(n) || (first >> (n * threads_each + p) & 1) != 0, "a sum lacks a survivor");
  }

  void perform(unsigned n, const actions& out) {
    for (const action& a : out) {
      if (a.kind == action_kind::send) {
        const auto bytes = a.payload();
        if (!dead(a.to.value()))
          channels_[n * nodes_ + a.to.value()].push_back({false, {}, 0, a.m, {bytes.begin(), bytes.end()}});
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
    r.is_old(from) ? machines_[to]->absorb(next.m, next.bytes, out)
                   : machines_[to]->on_message(next.m, next.bytes, out);
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
  std::vector<thread> threads_;
  std::uint64_t groups_[2] = {};  ///< of all nodes, and of all but the last
  struct seen {
    unsigned node = 0;
    std::int64_t sum = 0;
  };
  std::map<std::pair<unsigned, unsigned>, std::vector<seen>> sums_;  ///< by group and lap
  std::uint64_t dead_ = 0;
  std::string failure_;
};

void expect_ends(unsigned nodes, unsigned seed, const std::vector<std::pair<unsigned, unsigned>>& deaths) {
  world w(nodes, seed, deaths);
  const unsigned steps = w.run();
  EXPECT_NE(steps, 0u) << "somebody waits for ever; nodes " << nodes << ", seed " << seed;
  EXPECT_EQ(w.failure(), "") << "nodes " << nodes << ", seed " << seed;
  if (testing::Test::HasFailure()) {
    for (const auto& [at, who] : deaths) ADD_FAILURE() << "node " << who << " died at step " << at;
  }
}

TEST(sync_group_deaths, without_any_all_is_well) {
  for (unsigned seed = 0; seed < 50 && !HasFailure(); ++seed) expect_ends(3, seed, {});
}
TEST(sync_group_deaths, of_one_node_at_every_step) {
  for (unsigned nodes = 2; nodes <= 4; ++nodes)
    for (unsigned seed = 0; seed < 6; ++seed)
      for (unsigned who = 0; who < nodes; ++who)
        for (unsigned step = 1; step < 400 && !HasFailure(); step += 2) expect_ends(nodes, seed, {{step, who}});
  EXPECT_GT(world::lost_arrays, 1000u);
  EXPECT_GT(world::lost, 1000u);
}
TEST(sync_group_deaths, of_two_nodes) {
  for (unsigned nodes = 3; nodes <= 5; ++nodes)
    for (unsigned seed = 0; seed < 6; ++seed)
      for (unsigned step = 1; step < 400; step += 7)
        for (unsigned later = 1; later < 60 && !HasFailure(); later += 7)
          expect_ends(nodes, seed, {{step, seed % nodes}, {step + later, (seed + 1 + step % (nodes - 1)) % nodes}});
}

}  // namespace
}  // namespace quire::sync::sync_group_death_test
