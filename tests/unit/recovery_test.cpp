// SPDX-License-Identifier: BSD-3-Clause
// The rounds by which survivors of deaths go on together (src/watch/recovery), with several deaths, leaves and joins,
// in random orders of arrival.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <vector>

#include "watch/recovery.hpp"

namespace quire::watch::recovery_test {
namespace {

using round = recovery::round;

struct marker {
  round r;
  recovery::knowledge of;
};

class world {
 public:
  world(unsigned nodes, unsigned seed, unsigned founders = 64)
      : nodes_(nodes), random_(seed), absent_(founders < nodes ? all() >> founders << founders : 0) {
    for (unsigned i = 0; i < nodes; ++i) state_.emplace_back(i, nodes, false, false, founders);
    settled_.resize(nodes);
    gone_on_.resize(nodes);
    with_.resize(nodes, all() & ~absent_);
  }
  void kill(unsigned node) {
    dead_ |= std::uint64_t{1} << node;
    absent_ &= ~dead_;  // a process that ends before it has joined
    for (unsigned other = 0; other < nodes_; ++other) channels_.erase({other, node});
  }
  void tell(unsigned node) {
    if (is_alive(node)) act(node, state_[node].on_ended(ended()));
  }
  /// One at a time, as the launcher has it, which tells of those before, and of ends. False: not now.
  bool join(unsigned node) {
    if ((absent_ >> node & 1) == 0 || (ended() >> node & 1) != 0) return false;
    bool any = false;
    for (unsigned other = 0; other < nodes_; ++other) {
      if (is_alive(other) && !has_gone_on(other)) return false;
      any = any || is_alive(other);
    }
    if (!any) return false;
    const std::uint64_t before = all() & ~absent_;
    absent_ &= ~(std::uint64_t{1} << node);
    act(node, state_[node].on_join(before, left_));
    if (ended() != 0) act(node, state_[node].on_ended(ended()));
    return true;
  }
  void leave(unsigned node) {
    if (is_alive(node) && has_gone_on(node) && !state_[node].leaves()) act(node, state_[node].on_leave());
  }
  /// One of the messages on their way arrives. False if there is none.
  bool deliver_one() {
    std::vector<std::pair<unsigned, unsigned>> open;
    for (const auto& [pair, queue] : channels_) {
      if (!queue.empty()) open.push_back(pair);
    }
    if (open.empty()) return false;
    const auto [from, to] = open[random_() % open.size()];
    auto& queue = channels_[{from, to}];
    const marker m = queue.front();
    queue.pop_front();
    if (!is_alive(to)) return true;
    const bool believed =
        ((state_[to].dead() | state_[to].ended()) >> from & 1) == 0;  // else nothing of it counts any more
    if (m.r == round::cut && (m.of.left >> from & 1) != 0 && believed) last_words_[to] |= std::uint64_t{1} << from;
    act(to, state_[to].on_marker(from, m.r, m.of));
    return true;
  }
  [[nodiscard]] bool is_alive(unsigned node) const { return ((ended() | absent_) >> node & 1) == 0; }
  [[nodiscard]] bool may_die(unsigned node) const { return (ended() >> node & 1) == 0; }
  [[nodiscard]] std::uint64_t absent() const { return absent_; }
  /// Processes that run no more: killed, or as they have left.
  [[nodiscard]] std::uint64_t ended() const { return dead_ | left_; }
  [[nodiscard]] std::uint64_t left() const { return left_; }
  [[nodiscard]] std::uint64_t dead() const { return dead_; }
  /// Of who was killed as it left, all think the same; who has left is known to have, if any is left who was a member
  /// then.
  void require_end() {
    const recovery* first = nullptr;
    std::uint64_t known = 0;
    for (unsigned n = 0; n < nodes_; ++n) known |= is_alive(n) ? seen_leaving_[n] : 0;
    for (unsigned n = 0; n < nodes_; ++n) {
      if (!is_alive(n)) continue;
      if (first == nullptr) first = &state_[n];
      EXPECT_FALSE(state_[n].active()) << "node " << n << " waits for ever";
      EXPECT_EQ(state_[n].gone(), ended()) << "node " << n;
      EXPECT_EQ(state_[n].members(), all() & ~absent_) << "node " << n;
      EXPECT_EQ(with_[n], all() & ~absent_) << "node " << n << " does not go on with all that have joined";
      EXPECT_EQ(state_[n].dead(), first->dead()) << "node " << n;
      EXPECT_EQ(state_[n].left() & known, known) << "node " << n;
      EXPECT_EQ(gone_on_[n], ended());
    }
  }

 private:
  [[nodiscard]] std::uint64_t all() const { return (std::uint64_t{1} << nodes_) - 1; }
  /// It is a member, and has gone on as one.
  [[nodiscard]] bool has_gone_on(unsigned node) const { return (with_[node] >> node & 1) != 0; }
  /// `other` is there, and `node` knows of it, and not of its end.
  [[nodiscard]] bool knows(unsigned node, unsigned other) const {
    return is_alive(other) && ((state_[node].members() & ~state_[node].gone()) >> other & 1) != 0;
  }
  void act(unsigned node, recovery::step s) {
    if (!has_gone_on(node)) strangers_[node] |= state_[node].left();
    if (s.begin) send(node, round::cut);
    if (s.report) send(node, round::reports);
    if (s.settle) {
      settled_[node] = state_[node].gone();
      require_all_missed(node);
      send(node, round::settled);
    }
    if (s.leave) has_left(node);
    if (s.report) require_last_words(node);
    if (!s.go_on) return;
    gone_on_[node] = state_[node].gone();
    with_[node] = state_[node].members();
    for (unsigned other = 0; other < nodes_; ++other) {
      if (!knows(node, other)) continue;
      EXPECT_EQ(settled_[other] & state_[node].gone(), state_[node].gone())
          << "node " << node << " goes on before " << other << " has decided";
    }
  }
  /// All that it has sent to those who go on has come.
  void has_left(unsigned node) {
    for (unsigned other = 0; other < nodes_; ++other) {
      if (!knows(node, other)) continue;
      EXPECT_TRUE((last_words_[other] >> node & 1) != 0) << "node " << node << " goes before " << other << " has heard";
      EXPECT_TRUE(state_[other].is_cut_off(node));
    }
    left_ |= std::uint64_t{1} << node;
    for (unsigned other = 0; other < nodes_; ++other)
      seen_leaving_[other] |= is_alive(other) && has_gone_on(other) ? std::uint64_t{1} << node : 0;
  }
  /// Who reports what it has gets nothing more of those that leave, unless they end in the middle.
  void require_last_words(unsigned node) {
    const std::uint64_t missing = state_[node].left() & ~last_words_[node] & ~strangers_[node];
    EXPECT_EQ(missing & ~state_[node].torn(), 0u) << "node " << node << " reports too early";
    EXPECT_EQ(state_[node].torn() & ~missing, 0u) << "node " << node << " has heard all of who ended";
  }
  /// Who decides knows what any of those has missed who decide with it.
  void require_all_missed(unsigned node) {
    for (unsigned other = 0; other < nodes_; ++other) {
      if (!knows(node, other) || state_[other].dead() != state_[node].dead() ||
          state_[other].left() != state_[node].left() || state_[other].members() != state_[node].members())
        continue;
      EXPECT_EQ(state_[other].torn() & ~state_[node].missed(), 0u) << "node " << node << ", of " << other;
    }
  }
  void send(unsigned from, round r) {
    for (unsigned to = 0; to < nodes_; ++to) {
      const std::uint64_t known = state_[from].members() & ~(state_[from].dead() | state_[from].ended());
      if (is_alive(to) && (known >> to & 1) != 0) channels_[{from, to}].push_back({r, state_[from].known()});
    }
  }

  unsigned nodes_;
  std::mt19937 random_;
  std::uint64_t dead_ = 0, left_ = 0;
  std::map<unsigned, std::uint64_t> seen_leaving_;  ///< [node]: who left while it was a member
  std::map<unsigned, std::uint64_t> strangers_;     ///< [node]: who left before it was a member
  std::map<unsigned, std::uint64_t> last_words_;    ///< [node]: of whom it has heard that they leave, from themselves
  std::vector<recovery> state_;
  std::uint64_t absent_;
  std::vector<std::uint64_t> settled_, gone_on_, with_;
  std::map<std::pair<unsigned, unsigned>, std::deque<marker>> channels_;
};

TEST(Recovery, EndsForAllSurvivorsWheneverOthersDie) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const unsigned nodes = 2 + random() % 7, deaths = 1 + random() % (nodes - 1);
    world w(nodes, seed);
    unsigned died = 0;
    for (unsigned steps = 0; steps < 400; ++steps) {
      switch (random() % 8) {
        case 0:
          if (const unsigned victim = random() % nodes; died < deaths && w.is_alive(victim)) {
            w.kill(victim);
            ++died;
          }
          break;
        case 1:
          w.tell(random() % nodes);
          break;
        default:
          (void)w.deliver_one();
      }
    }
    for (unsigned n = 0; n < nodes; ++n) w.tell(n);
    while (w.deliver_one()) continue;
    w.require_end();
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

/// Node 0 stays; others die, leave, and die as they leave.
TEST(Recovery, EndsForAllWhoStayWheneverOthersLeaveOrDie) {
  unsigned all_left = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    std::mt19937 random(seed);
    const unsigned nodes = 2 + random() % 6, deaths = random() % 2 == 0 ? 0 : random() % (nodes - 1);
    world w(nodes, seed);
    unsigned died = 0;
    for (unsigned steps = 0; steps < 400; ++steps) {
      const unsigned who = random() % nodes;
      switch (random() % 12) {
        case 0:
          if (died < deaths && w.is_alive(who)) {
            w.kill(who);
            ++died;
          }
          break;
        case 1:
          w.tell(who);
          break;
        case 2:
          if (who != 0 && steps < 200) w.leave(who);
          break;
        default:
          (void)w.deliver_one();
      }
    }
    for (unsigned rounds = 0; rounds < nodes; ++rounds) {  // of who leaves last the others hear last
      for (unsigned n = 0; n < nodes; ++n) w.tell(n);
      while (w.deliver_one()) continue;
    }
    w.require_end();
    all_left += static_cast<unsigned>(__builtin_popcountll(w.left()));
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(all_left, 2000u) << "too few to mean anything";
}

/// One after the other comes; others die and leave before, meanwhile and afterwards.
TEST(Recovery, EndsForAllWheneverNodesJoin) {
  unsigned joined = 0, never = 0;
  for (unsigned seed = 0; seed < 6000; ++seed) {
    std::mt19937 random(seed);
    const unsigned founders = 1 + random() % 4, nodes = founders + 1 + random() % 3;
    const unsigned deaths = random() % 2 == 0 ? 0 : random() % (nodes - 1);
    const bool leave = random() % 2 == 0;
    world w(nodes, seed, founders);
    unsigned died = 0;
    for (unsigned steps = 0; steps < 600; ++steps) {
      const unsigned who = random() % nodes;
      switch (random() % 16) {
        case 0:
          if (died < deaths && w.may_die(who)) {
            w.kill(who);
            ++died;
          }
          break;
        case 1:
          w.tell(who);
          break;
        case 2:
          if (leave && who != 0 && steps < 400) w.leave(who);
          break;
        case 3:
          joined += steps > 20 && w.join(who) ? 1 : 0;
          break;
        default:
          (void)w.deliver_one();
      }
    }
    for (unsigned rounds = 0; rounds < nodes; ++rounds) {
      for (unsigned n = 0; n < nodes; ++n) w.tell(n);
      while (w.deliver_one()) continue;
    }
    w.require_end();
    never += static_cast<unsigned>(__builtin_popcountll(w.absent()));
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(joined, 5000u) << "too few to mean anything";
  EXPECT_GT(never, 20u) << "too few to mean anything";
}

TEST(Recovery, OfWhoJoinsBeginsWhenItComes) {
  recovery r(2, 3, false, false, 2);
  EXPECT_EQ(r.members(), 0b011u);
  EXPECT_FALSE(r.on_ended(0b010).begin) << "it is no member yet";
  EXPECT_TRUE(r.on_join(0b011, 0).begin);
  EXPECT_EQ(r.members(), 0b111u);
  const recovery::knowledge all{.dead = 0b010, .members = 0b111};
  EXPECT_FALSE(r.on_marker(0, round::cut, {.dead = 0b010, .members = 0b011}).report) << "of one who does not know yet";
  EXPECT_FALSE(r.on_marker(0, round::cut, all).report) << "its own has not come back";
  EXPECT_TRUE(r.on_marker(2, round::cut, all).report);
}

TEST(Recovery, TellsOldMessagesFromNewOnes) {
  recovery r(0, 3);
  EXPECT_FALSE(r.is_old(1));
  EXPECT_TRUE(r.on_deaths(0b100).begin);
  EXPECT_TRUE(r.is_old(1));
  EXPECT_FALSE(r.on_marker(1, round::cut, {.dead = 0b100, .members = 0b111}).report) << "its own has not come back";
  EXPECT_FALSE(r.is_old(1));
  EXPECT_TRUE(r.on_marker(0, round::cut, {.dead = 0b100, .members = 0b111}).report);
  EXPECT_FALSE(r.on_marker(2, round::cut, {.dead = 0b100, .members = 0b111}).begin) << "the dead say nothing";
}

TEST(Recovery, OfTheLastOneAliveEndsWithItsOwnMarkers) {
  recovery r(1, 2);
  const recovery::knowledge all{.dead = 0b01, .members = 0b11};
  EXPECT_TRUE(r.on_deaths(0b01).begin);
  EXPECT_TRUE(r.on_marker(1, round::cut, all).report);
  EXPECT_TRUE(r.on_marker(1, round::reports, all).settle);
  EXPECT_TRUE(r.on_marker(1, round::settled, all).go_on);
  EXPECT_FALSE(r.active());
}

}  // namespace
}  // namespace quire::watch::recovery_test
