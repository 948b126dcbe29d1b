// SPDX-License-Identifier: BSD-3-Clause
// Which of several deaths the launcher names, whatever the order in which it hears of them
// (src/bootstrap/launcher/inquest).
#include "bootstrap/launcher/inquest.hpp"

#include <gtest/gtest.h>
#include <quire/quire.h>
#include <signal.h>

#include <algorithm>
#include <functional>

namespace quire::bootstrap::launcher::inquest_test {
namespace {

constexpr std::uint64_t ms = 1'000'000;

int exited(int status) { return status << 8; }
int killed_by(int signal) { return signal; }

/// What a launcher hears, at some time.
struct event {
  int node;
  int wait_status = -1;  ///< -1: a word of loss
};

ending ending_of(const event& e) { return {e.node, manner_of(e.wait_status), "", 1}; }

/// Tells them in this order, so far apart; the node that is named.
int named(const std::vector<event>& events, std::uint64_t apart = 20 * ms) {
  inquest i;
  std::uint64_t now = 1;
  for (const auto& e : events) {
    if (const auto cause = i.decide(now)) return cause->node;
    if (e.wait_status < 0) {
      i.on_word_of_loss(e.node);
    } else {
      i.on_end(ending_of(e), now);
    }
    if (const auto cause = i.decide(now)) return cause->node;
    now += apart;
  }
  for (; now < 10'000 * ms; now += ms)
    if (const auto cause = i.decide(now)) return cause->node;
  return -1;
}

TEST(Inquest, OneDeathIsItsOwnCause) {
  for (const int status :
       {exited(1), exited(3), exited(QUIRE_PEER_LOST), killed_by(SIGKILL), killed_by(SIGSEGV), killed_by(SIGABRT)})
    EXPECT_EQ(named({{2, status}}), 2) << status;
}

TEST(Inquest, ASignalFromOutsideIsNamedAtOnceAndOthersAfterAMoment) {
  inquest killed, crashed;
  killed.on_end(ending_of({1, killed_by(SIGKILL)}), 1000);
  EXPECT_TRUE(killed.decide(1000).has_value());
  EXPECT_EQ(killed.due(), 0u);
  crashed.on_end(ending_of({1, killed_by(SIGSEGV)}), 1000);
  EXPECT_EQ(crashed.due(), 1000 + inquest::hearing_ns);
  EXPECT_FALSE(crashed.decide(1000 + inquest::hearing_ns - 1).has_value());
  EXPECT_TRUE(crashed.decide(1000 + inquest::hearing_ns).has_value());
  EXPECT_FALSE(crashed.decide(1'000'000 * ms).has_value()) << "once";
}

/// Node 0 is the first cause; the others die of its death, each in its way.
void in_any_order(const std::vector<event>& events, const char* what) {
  std::vector<std::size_t> order(events.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  do {
    std::vector<event> told;
    for (const std::size_t i : order) told.push_back(events[i]);
    // A node's word comes before its own end, on one socket.
    bool possible = true;
    for (std::size_t i = 0; i < told.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (told[i].wait_status < 0 && told[j].wait_status >= 0 && told[j].node == told[i].node) possible = false;
    if (!possible) continue;
    EXPECT_EQ(named(told), 0) << what;
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Inquest, TheFirstCauseIsNamedWhateverTheOrder) {
  in_any_order({{0, killed_by(SIGKILL)}, {1, killed_by(SIGABRT)}, {2, exited(QUIRE_PEER_LOST)}, {3, exited(1)}},
               "a kill; UCX aborts, others give up");
  in_any_order({{0, killed_by(SIGTERM)}, {1, -1}, {1, exited(3)}, {2, killed_by(SIGSEGV)}},
               "a kill; one says so, and exits");
  in_any_order({{0, killed_by(SIGSEGV)}, {1, -1}, {1, exited(3)}, {2, exited(QUIRE_PEER_LOST)}, {3, exited(1)}},
               "a crash");
  in_any_order({{0, killed_by(SIGABRT)}, {1, -1}, {1, killed_by(SIGABRT)}, {2, exited(QUIRE_PEER_LOST)}},
               "an assertion; one aborts after its loss");
  in_any_order(
      {{0, exited(3)}, {1, -1}, {1, exited(1)}, {2, -1}, {2, killed_by(SIGABRT)}, {3, exited(QUIRE_PEER_LOST)}},
      "an exit");
}

TEST(Inquest, OfEqualsTheFirstIsNamed) {
  EXPECT_EQ(named({{3, exited(1)}, {1, exited(2)}}), 3);
  EXPECT_EQ(named({{3, killed_by(SIGBUS)}, {1, killed_by(SIGSEGV)}}), 3);
  EXPECT_EQ(named({{2, exited(QUIRE_PEER_LOST)}, {1, exited(QUIRE_PEER_LOST)}}), 2) << "nobody knows better";
}

TEST(Inquest, WhatComesTooLateExplainsNothing) {
  EXPECT_EQ(named({{1, exited(3)}, {0, killed_by(SIGKILL)}}, inquest::hearing_ns + ms), 1);
}

TEST(Inquest, WhoHasTakenItsWordBackAnswersForItself) {
  inquest i;
  i.on_word_of_loss(1);
  i.on_word_withdrawn(1);
  i.on_end(ending_of({1, exited(3)}), 1);
  i.on_end(ending_of({2, exited(4)}), 2);
  EXPECT_EQ(i.decide(1 + inquest::hearing_ns)->node, 1);
}

TEST(Inquest, AKillOfANodeThatHadLostOthersIsStillAKill) {
  EXPECT_EQ(named({{1, -1}, {2, exited(3)}, {1, killed_by(SIGKILL)}}), 1);
}

}  // namespace
}  // namespace quire::bootstrap::launcher::inquest_test
