// SPDX-License-Identifier: BSD-3-Clause
// The rounds by which survivors of deaths go on together (src/watch/recovery), with several deaths, in random orders of
// arrival.
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
  std::uint64_t dead;
};

class world {
 public:
  world(unsigned nodes, unsigned seed) : nodes_(nodes), random_(seed) {
    for (unsigned i = 0; i < nodes; ++i) state_.emplace_back(i, nodes);
    settled_.resize(nodes);
    gone_on_.resize(nodes);
  }
  void kill(unsigned node) {
    dead_ |= std::uint64_t{1} << node;
    for (unsigned other = 0; other < nodes_; ++other) channels_.erase({other, node});
  }
  void tell(unsigned node) {
    if (is_alive(node)) act(node, state_[node].on_deaths(dead_));
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
    act(to, state_[to].on_marker(from, m.r, m.dead));
    return true;
  }
  [[nodiscard]] bool is_alive(unsigned node) const { return (dead_ >> node & 1) == 0; }
  [[nodiscard]] std::uint64_t dead() const { return dead_; }
  void require_end() {
    for (unsigned n = 0; n < nodes_; ++n) {
      if (!is_alive(n)) continue;
      EXPECT_FALSE(state_[n].active()) << "node " << n << " waits for ever";
      EXPECT_EQ(state_[n].dead(), dead_) << "node " << n;
      EXPECT_EQ(gone_on_[n], dead_);
    }
  }

 private:
  void act(unsigned node, recovery::step s) {
    if (s.begin) send(node, round::cut);
    if (s.report) send(node, round::reports);
    if (s.settle) {
      settled_[node] = state_[node].dead();
      send(node, round::settled);
    }
    if (!s.go_on) return;
    gone_on_[node] = state_[node].dead();
    for (unsigned other = 0; other < nodes_; ++other) {
      if ((state_[node].dead() >> other & 1) != 0 || !is_alive(other)) continue;
      EXPECT_EQ(settled_[other] & state_[node].dead(), state_[node].dead())
          << "node " << node << " goes on before " << other << " has decided";
    }
  }
  void send(unsigned from, round r) {
    for (unsigned to = 0; to < nodes_; ++to) {
      if (is_alive(to) && (state_[from].dead() >> to & 1) == 0)
        channels_[{from, to}].push_back({r, state_[from].dead()});
    }
  }

  unsigned nodes_;
  std::mt19937 random_;
  std::uint64_t dead_ = 0;
  std::vector<recovery> state_;
  std::vector<std::uint64_t> settled_, gone_on_;
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

TEST(Recovery, TellsOldMessagesFromNewOnes) {
  recovery r(0, 3);
  EXPECT_FALSE(r.is_old(1));
  EXPECT_TRUE(r.on_deaths(0b100).begin);
  EXPECT_TRUE(r.is_old(1));
  EXPECT_FALSE(r.on_marker(1, round::cut, 0b100).report) << "its own has not come back";
  EXPECT_FALSE(r.is_old(1));
  EXPECT_TRUE(r.on_marker(0, round::cut, 0b100).report);
  EXPECT_FALSE(r.on_marker(2, round::cut, 0b100).begin) << "the dead say nothing";
}

TEST(Recovery, OfTheLastOneAliveEndsWithItsOwnMarkers) {
  recovery r(1, 2);
  EXPECT_TRUE(r.on_deaths(0b01).begin);
  EXPECT_TRUE(r.on_marker(1, round::cut, 0b01).report);
  EXPECT_TRUE(r.on_marker(1, round::reports, 0b01).settle);
  EXPECT_TRUE(r.on_marker(1, round::settled, 0b01).go_on);
  EXPECT_FALSE(r.active());
}

}  // namespace
}  // namespace quire::watch::recovery_test
