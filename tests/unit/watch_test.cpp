// SPDX-License-Identifier: BSD-3-Clause
// Who is still there (src/watch), by a clock of the test's own: whole jobs of watchers in virtual time, in which nodes
// hang, are stopped and go on, have no core for a while, or leave.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/inbox.hpp"
#include "watch/watch.hpp"

namespace quire::watch::watch_test {
namespace {

constexpr std::uint64_t ms = 1'000'000, second = 1000 * ms, limit = 5 * second, never = UINT64_MAX;

/// A job in which messages take `delay`. Each node looks when its next look is due, if it runs.
class world {
 public:
  struct loss {
    unsigned by, whom;
    std::uint64_t at, silent_ns;
  };

  explicit world(unsigned nodes, std::uint64_t delay = ms) : delay_(delay) {
    for (unsigned i = 0; i < nodes; ++i) nodes_.push_back({watch(i, nodes, limit), true, 0, {}});
    for (auto& n : nodes_) n.state.begin(0);
  }
  void stop(unsigned node) { nodes_[node].runs = false; }
  void go_on(unsigned node) { nodes_[node].runs = true; }
  void leave(unsigned node) {
    for (const unsigned w : nodes_[node].state.watchers()) post(node, w, leaving);
    nodes_[node].runs = false;
  }
  /// The node runs for a moment every `period` only.
  void starve(unsigned node, std::uint64_t period) { nodes_[node].period = period; }
  void run_until(std::uint64_t end) {
    for (; now_ < end; now_ += step) {
      for (unsigned i = 0; i < nodes_.size(); ++i) {
        if (nodes_[i].runs && (nodes_[i].period == 0 || now_ % nodes_[i].period == 0)) act(i);
      }
    }
  }
  void send(unsigned from, unsigned to) { post(from, to, other); }
  [[nodiscard]] const std::vector<loss>& losses() const { return losses_; }
  /// Losses that were taken back.
  [[nodiscard]] const std::vector<loss>& backs() const { return backs_; }
  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  [[nodiscard]] std::uint64_t now() const { return now_; }

 private:
  static constexpr std::uint64_t step = 5 * ms;
  enum word { ping, here, leaving, other };
  struct letter {
    std::uint64_t at;
    unsigned from;
    word what;
  };
  struct node {
    watch state;
    bool runs;
    std::uint64_t period;
    std::vector<letter> in;
  };

  void post(unsigned from, unsigned to, word what) {
    ++messages_;
    nodes_[to].in.push_back({now_ + delay_, from, what});
  }
  void act(unsigned self) {
    auto& n = nodes_[self];
    auto arrived = std::move(n.in);
    n.in.clear();
    for (const auto& l : arrived) {
      if (l.at > now_) {
        n.in.push_back(l);
        continue;
      }
      n.state.heard(l.from);
      if (l.what == ping) post(self, l.from, here);
      if (l.what == leaving) n.state.leaves(l.from);
    }
    if (arrived.empty() && now_ < n.state.next_look()) return;
    const auto found = n.state.look(now_);
    for (unsigned i = 0; i < found.pings; ++i) post(self, found.ping[i], ping);
    if (found.lost) losses_.push_back({self, found.peer, now_, found.silent_ns});
    for (unsigned i = 0; i < found.backs; ++i) backs_.push_back({self, found.back[i], now_, 0});
  }

  std::uint64_t delay_, now_ = 0, messages_ = 0;
  std::vector<node> nodes_;
  std::vector<loss> losses_, backs_;
};

TEST(Watch, NobodyIsLostInAnIdleJob) {
  for (const unsigned nodes : {2u, 3u, 4u, 7u}) {
    world w(nodes);
    w.run_until(200 * second);
    EXPECT_TRUE(w.losses().empty()) << nodes;
    // At most a question and an answer for each peer watched in each part of the limit.
    const std::uint64_t most = 200 * second / (limit / parts) * nodes * std::min(most_watched, nodes - 1) * 2;
    EXPECT_LE(w.messages(), most);
    EXPECT_GE(w.messages(), most / 8);
  }
}

TEST(Watch, AHungNodeIsLostWithinTheLimitToAllWhoWatchIt) {
  for (const unsigned nodes : {2u, 3u, 4u, 9u}) {
    for (unsigned victim = 0; victim < nodes; ++victim) {
      world w(nodes);
      w.run_until(20 * second + victim * 37 * ms);
      const std::uint64_t stopped = w.now();
      w.stop(victim);
      w.run_until(60 * second);
      ASSERT_EQ(w.losses().size(), std::min(most_watched, nodes - 1));
      for (const auto& l : w.losses()) {
        EXPECT_EQ(l.whom, victim);
        EXPECT_LE(l.at, stopped + limit * 7 / 8) << "the rest is for those who must agree";
        EXPECT_GE(l.at, stopped + limit / 2);
        EXPECT_GE(l.silent_ns, limit / 2);
      }
    }
  }
}

TEST(Watch, TrafficSavesQuestions) {
  world w(2);
  w.run_until(second);
  const auto before = w.messages();
  while (w.now() < 50 * second) {
    w.send(0, 1);
    w.send(1, 0);
    w.run_until(w.now() + 100 * ms);
  }
  EXPECT_EQ(w.messages() - before, 2 * 490u) << "not one ping";
  EXPECT_TRUE(w.losses().empty());
}

TEST(Watch, AJobThatIsStoppedAsAWholeGoesOn) {
  world w(4);
  for (unsigned round = 0; round < 20; ++round) {
    w.run_until(w.now() + second);
    for (unsigned i = 0; i < 4; ++i) w.stop(i);
    w.run_until(w.now() + 30 * second);
    // They do not all go on at once: here within a fifth of the limit.
    for (unsigned i = 0; i < 4; ++i) {
      w.go_on((i + round) % 4);
      w.run_until(w.now() + limit / 20);
    }
  }
  w.run_until(w.now() + 20 * second);
  EXPECT_TRUE(w.losses().empty());
}

TEST(Watch, OneThatWasStoppedAccusesNobody) {
  world w(3);
  w.run_until(10 * second);
  w.stop(1);
  w.run_until(12 * second);
  w.go_on(1);
  w.run_until(60 * second);
  EXPECT_TRUE(w.losses().empty());
}

TEST(Watch, OneThatHasNoCoreAccusesNobodyAndIsNotAccusedWhileItRunsNowAndThen) {
  world w(3);
  w.starve(1, 1500 * ms);
  w.run_until(200 * second);
  EXPECT_TRUE(w.losses().empty());
}

TEST(Watch, OneThatRunsRarelyAccusesNobodyHoweverRarely) {
  world w(2);
  w.starve(0, 20 * second);
  w.run_until(400 * second);
  for (const auto& l : w.losses()) EXPECT_EQ(l.by, 1u) << "node 1 runs, and may well take node 0 for dead";
}

TEST(Watch, OneThatHadNoCoreForLongIsTakenBackByAllWhoHadLostIt) {
  world w(3);
  w.run_until(10 * second);
  w.stop(1);
  w.run_until(w.now() + 2 * limit);
  ASSERT_EQ(w.losses().size(), 2u);
  EXPECT_TRUE(w.backs().empty());
  w.go_on(1);
  w.run_until(w.now() + limit / 2);
  ASSERT_EQ(w.backs().size(), 2u);
  for (const auto& b : w.backs()) EXPECT_EQ(b.whom, 1u);
  w.run_until(w.now() + 20 * second);
  EXPECT_EQ(w.losses().size(), 2u);
  EXPECT_EQ(w.backs().size(), 2u) << "once";
  w.stop(1);  // and is lost again when it hangs
  w.run_until(w.now() + 2 * limit);
  EXPECT_EQ(w.losses().size(), 4u);
}

/// A machine in use: nodes get a core for a moment now and then, some of them for longer than the limit not at all.
/// Whoever runs is not lost for good.
TEST(Watch, OnABusyMachineEveryLossOfANodeThatRunsIsTakenBack) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const unsigned nodes = 2 + random() % 5;
    world w(nodes, (1 + random() % 50) * ms);
    for (unsigned round = 0; round < 60; ++round) {
      const unsigned one = random() % nodes;
      w.starve(one, random() % 3 == 0 ? 0 : (1 + random() % 1600) * 5 * ms);
      w.run_until(w.now() + random() % (4 * second));
    }
    for (unsigned i = 0; i < nodes; ++i) w.starve(i, 0);
    w.run_until(w.now() + 2 * limit);
    EXPECT_EQ(w.losses().size(), w.backs().size()) << "seed " << seed;
  }
}

TEST(Watch, OneThatLeavesIsNotLost) {
  world w(4);
  w.run_until(10 * second);
  w.leave(2);
  w.run_until(100 * second);
  EXPECT_TRUE(w.losses().empty());
}

TEST(Watch, SlowStartsHaveTimeUntilTheFirstWord) {
  world w(3);
  w.stop(2);
  w.run_until(start_limit_ns - 2 * second);
  EXPECT_TRUE(w.losses().empty());
  w.go_on(2);
  w.run_until(start_limit_ns + 60 * second);
  EXPECT_TRUE(w.losses().empty());
  world for_ever(3);
  for_ever.stop(2);
  for_ever.run_until(start_limit_ns + 5 * second);
  EXPECT_EQ(for_ever.losses().size(), 2u);
}

TEST(Watch, ALimitOfZeroWatchesNobody) {
  watch off(0, 3, 0);
  off.begin(5);
  EXPECT_EQ(off.next_look(), never);
  EXPECT_EQ(off.look(1000 * second).pings, 0u);
  EXPECT_FALSE(off.active());
}

TEST(Watch, TheNextOneAliveTakesTheDeadOnesPlace) {
  watch state(0, 6, limit);
  state.begin(0);
  EXPECT_EQ(std::vector<unsigned>(state.watchers().begin(), state.watchers().end()), (std::vector<unsigned>{5, 4}));
  auto found = state.look(1);
  ASSERT_EQ(found.pings, 2u);
  EXPECT_EQ(found.ping[0], 1u);
  EXPECT_EQ(found.ping[1], 2u);
  state.is_dead(1, 2);
  state.is_dead(5, 2);
  found = state.look(3);
  ASSERT_EQ(found.pings, 1u) << "2 has just been asked";
  EXPECT_EQ(found.ping[0], 3u);
  EXPECT_EQ(std::vector<unsigned>(state.watchers().begin(), state.watchers().end()), (std::vector<unsigned>{4, 3}));
  for (const unsigned node : {2u, 3u, 4u}) state.is_dead(node, 4);
  EXPECT_FALSE(state.active());
}

/// Nodes that stop for less than a fifth of the limit, have no core for half a second, and talk at random are never
/// lost; one that stops for good always is.
TEST(Watch, AnythingGoes) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const unsigned nodes = 2 + random() % 6;
    world w(nodes, (1 + random() % 200) * ms);
    for (unsigned round = 0; round < 60; ++round) {
      const unsigned one = random() % nodes;
      switch (random() % 3) {
        case 0:
          w.stop(one);
          w.run_until(w.now() + random() % (limit / 5));
          w.go_on(one);
          break;
        case 1:
          w.send(one, (one + 1) % nodes);
          break;
        default:
          w.starve(one, random() % 2 * (random() % 100 + 1) * 5 * ms);
          break;
      }
      w.run_until(w.now() + random() % second);
    }
    ASSERT_TRUE(w.losses().empty()) << "seed " << seed;
    const unsigned victim = random() % nodes;
    w.stop(victim);
    w.run_until(w.now() + 6 * limit);
    ASSERT_FALSE(w.losses().empty()) << "seed " << seed;
    for (const auto& l : w.losses()) EXPECT_EQ(l.whom, victim) << "seed " << seed;
  }
}

}  // namespace
}  // namespace quire::watch::watch_test
