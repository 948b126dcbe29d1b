// SPDX-License-Identifier: BSD-3-Clause
// The replay of `quire predict`, with times that can be computed by hand.
#include "predict/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "predict/network.hpp"
#include "predict/prediction.hpp"

namespace quire::tools::predict {
namespace {

using record::asked;
using record::event;
using record::event_type;

constexpr std::uint64_t unit = std::uint64_t{1} << 62 | 7, barrier = std::uint64_t{2} << 62;

/// Writes a record as a node does.
class node {
 public:
  std::uint64_t thread(event_type type, std::uint64_t processor_ns, std::uint64_t key = 0, asked what = asked::other,
                       std::uint16_t which = 1) {
    return add({type, static_cast<std::uint8_t>(what), which, 0, key, processor_ns, processor_ns});
  }
  std::uint64_t executes(std::uint64_t asks, std::uint64_t takes_ns, std::uint64_t key) {
    return add({event_type::executes, 0, 0, static_cast<std::uint32_t>(asks), key, 0, takes_ns});
  }
  std::uint64_t comes(std::uint16_t from, std::uint64_t takes_ns, std::uint64_t key, std::uint32_t bytes = 0) {
    return add({event_type::comes, 1, from, bytes, key, 0, takes_ns});
  }
  void leaves(std::uint16_t to, std::uint64_t context, std::uint32_t bytes) {
    (void)add({event_type::leaves, 1, to, bytes, unit, 0, context});
  }
  node_events all;

 private:
  std::uint64_t add(const event& e) {
    all.all.push_back(e);
    return all.all.size();
  }
};

hardware cheap() {
  hardware on;
  on.net = {"test", 1'000, 10, 20, 1e9, 0, 0};  // a byte takes a nanosecond
  return on;
}

/// Thread of node 0 computes 1000 ns, wants a unit of node 1 (100 bytes there, 500 back), and computes 300 ns.
std::vector<node_events> one_fault() {
  node a, b;
  (void)a.thread(event_type::met, 0);
  (void)b.thread(event_type::met, 0);
  const auto asks = a.thread(event_type::asks, 1'000, unit, asked::fault);
  const auto asked_for = a.executes(asks, 40, unit);
  a.leaves(1, asked_for, 100);
  const auto request = b.comes(0, 60, unit);
  b.leaves(0, request, 500);
  const auto reply = a.comes(1, 30, unit, 400);
  (void)a.thread(event_type::goes_on, 1'000, reply);
  (void)a.thread(event_type::ends, 1'300);
  (void)b.thread(event_type::ends, 0);
  return {a.all, b.all};
}

// 1000 + (40 + 10) + (1000 + 100) + (60 + 20 + 10) + (1000 + 500) + (30 + 20) + 300
TEST(Predict, OneFaultTakesWhatTheNetworkMakesOfIt) {
  const outcome o = replay(one_fault(), cheap(), order::likely);
  EXPECT_DOUBLE_EQ(o.ns, 4'090);
  EXPECT_DOUBLE_EQ(o.work_ns, 1'300);
  EXPECT_DOUBLE_EQ(o.waits_ns[static_cast<std::size_t>(asked::fault)], 2'790);
  EXPECT_EQ(o.messages, 2u);
  EXPECT_EQ(o.bytes, 600u);
  EXPECT_EQ(o.undone, 0u);
  EXPECT_DOUBLE_EQ(o.busiest_link_ns, 500);
}

/// It goes on by something else, after content has come that it may then use: on a slow network it waits for that.
TEST(Predict, AThreadDoesNotGoOnBeforeContentThatHadCome) {
  auto job = one_fault();
  node a;
  (void)a.thread(event_type::met, 0);
  const auto asks = a.thread(event_type::asks, 1'000, unit, asked::fault);
  const auto asked_for = a.executes(asks, 40, unit);
  a.leaves(1, asked_for, 100);
  (void)a.comes(1, 30, unit, 400);
  (void)a.thread(event_type::goes_on, 1'000, asked_for);
  (void)a.thread(event_type::ends, 1'300);
  job[0] = a.all;
  EXPECT_DOUBLE_EQ(replay(job, cheap(), order::likely).ns, 4'090);
  EXPECT_DOUBLE_EQ(replay(job, cheap(), order::loose).ns, 1'000 + 40 + 10 + 300);
}

TEST(Predict, ARunThatWasCutEndsWithWhatItsThreadsDidLast) {
  auto job = one_fault();
  job[0].all.pop_back();
  job[1].all.pop_back();
  EXPECT_DOUBLE_EQ(replay(job, cheap(), order::likely).ns, 4'090 - 300);
}

TEST(Predict, FasterCoresMakeWorkShorterButNoMessage) {
  hardware on = cheap();
  on.speed = 2;
  EXPECT_DOUBLE_EQ(replay(one_fault(), on, order::likely).ns, 4'090 - 650 - 65);
}

/// Of 5,000 ns of real time it computes 1,000, waits 1,000 for a core, and sleeps the rest: in milliseconds.
TEST(Predict, TimeInWhichAThreadSleepsCounts) {
  node a;
  (void)a.thread(event_type::met, 0);
  event end{event_type::ends, 0, 1, 1'000, 0, 5'000'000, 1'000'000};
  a.all.all.push_back(end);
  outcome o = replay({a.all}, cheap(), order::likely);
  EXPECT_DOUBLE_EQ(o.ns, 4'000'000);
  EXPECT_DOUBLE_EQ(o.work_ns, 1'000'000);
  EXPECT_DOUBLE_EQ(o.slept_ns, 3'000'000);
  (void)a.thread(event_type::asks, 500'000, 0, asked::other, 2);  // another thread: it may have waited for that one
  o = replay({a.all}, cheap(), order::likely);
  EXPECT_DOUBLE_EQ(o.ns, 1'000'000);
  EXPECT_DOUBLE_EQ(o.slept_ns, 3'000'000);
}

TEST(Predict, NodesOfOneHostUseNoLink) {
  hardware on = cheap();
  on.nodes_a_host = 2;
  on.local_latency_ns = 5;
  EXPECT_DOUBLE_EQ(replay(one_fault(), on, order::likely).ns, 1'300 + 40 + 5 + (60 + 20) + 5 + (30 + 20));
}

/// Where a node has no core to spare, what it serves others takes time of its thread.
TEST(Predict, ServiceTakesTimeOfAThreadWhereItHasNoCoreOfItsOwn) {
  auto job = one_fault();
  node b;
  (void)b.thread(event_type::met, 0);
  const auto request = b.comes(0, 60, unit);
  b.leaves(0, request, 500);
  (void)b.thread(event_type::ends, 9'000);
  job[1] = b.all;
  hardware on = cheap();
  on.cores_a_node = 2;
  EXPECT_DOUBLE_EQ(replay(job, on, order::likely).ns, 9'000);
  on.cores_a_node = 1;
  EXPECT_DOUBLE_EQ(replay(job, on, order::likely).ns, 9'090);
}

/// What a message takes of a core beside those who send and take it: a thread that computes there works longer, and one
/// that waits goes on later with the next.
TEST(Predict, AMessageTakesACoreFromWhoComputes) {
  auto job = one_fault();
  hardware on = cheap();
  on.net.beside_ns = 1'000;
  on.cores_a_node = 2;
  const double before = replay(job, on, order::likely).ns;
  on.net.beside_ns = 0;
  EXPECT_DOUBLE_EQ(replay(job, on, order::likely).ns, before) << "there is a core for it";
  on.cores_a_node = 1;
  const double without = replay(job, on, order::likely).ns;
  on.net.beside_ns = 1'000;
  const double with = replay(job, on, order::likely).ns;
  EXPECT_GE(with, without + 900);
  EXPECT_LE(with, without + 2'000) << "a request, which its thread waits for, and the answer";
}

/// Its service thread has slept, since its thread computes. Soon after something else it has not.
TEST(Predict, ANodeThatComputesWakesForAMessage) {
  auto job = one_fault();
  hardware on = cheap();
  on.net.wake_ns = 30'000;
  EXPECT_DOUBLE_EQ(replay(job, on, order::likely).ns, 4'090) << "it came at the node's beginning";
  job[0].all[1].value += 50'000;  // it asks later
  for (const std::size_t i : {5u, 6u}) job[0].all[i].value += 50'000;
  EXPECT_DOUBLE_EQ(replay(job, on, order::likely).ns, 4'090 + 50'000 + 30'000);
}

/// Node 0 keeps a barrier; on this machine node 1 came last, but it computes less: the barrier opens when the last one
/// of the prediction is there.
TEST(Predict, ABarrierOpensWhenTheLastIsThereWhoeverThatWasHere) {
  node a, b;
  (void)a.thread(event_type::met, 0);
  (void)b.thread(event_type::met, 0);
  const auto a_asks = a.thread(event_type::asks, 50'000, barrier, asked::barrier);
  (void)a.executes(a_asks, 0, barrier);
  const auto b_asks = b.thread(event_type::asks, 1'000, barrier, asked::barrier);
  b.leaves(0, b.executes(b_asks, 0, barrier), 100);
  const auto arrival = a.comes(1, 0, barrier);
  a.leaves(1, arrival, 100);
  (void)a.thread(event_type::goes_on, 50'000, arrival);
  const auto release = b.comes(0, 0, barrier);
  (void)b.thread(event_type::goes_on, 1'000, release);
  (void)a.thread(event_type::ends, 50'000);
  (void)b.thread(event_type::ends, 1'000);
  const outcome o = replay({a.all, b.all}, cheap(), order::likely);
  EXPECT_DOUBLE_EQ(o.ns, 50'000 + 20 + 10 + 1'000 + 100 + 20);
  EXPECT_DOUBLE_EQ(o.waits_ns[static_cast<std::size_t>(asked::barrier)],
                   30 + (o.ns - 1'000));  // node 0, whose driver takes the arrival; node 1
}

/// Node 0 keeps a lock. On this machine node 2 asked for it first; elsewhere node 1 does, since it computes less.
TEST(Predict, ALockThatAnotherThreadWouldGetFirstIsToldAndWidensTheRange) {
  const auto job = [](std::uint64_t node_2_works) {
    std::vector<node> nodes(3);
    for (auto& n : nodes) (void)n.thread(event_type::met, 0);
    std::uint64_t asks[3] = {};
    for (const std::uint16_t i : {std::uint16_t{2}, std::uint16_t{1}}) {
      asks[i] = nodes[i].thread(event_type::asks, i == 1 ? 1'000 : node_2_works, barrier | 5, asked::lock);
      nodes[i].leaves(0, nodes[i].executes(asks[i], 0, barrier | 5), 100);
      nodes[0].leaves(i, nodes[0].comes(i, 0, barrier | 5), 100);
    }
    for (const std::uint16_t i : {std::uint16_t{1}, std::uint16_t{2}}) {
      const auto grant = nodes[i].comes(0, 0, barrier | 5);
      (void)nodes[i].thread(event_type::goes_on, i == 1 ? 1'000 : node_2_works, grant);
      (void)nodes[i].thread(event_type::ends, i == 1 ? 1'000 : node_2_works);
    }
    return std::vector<node_events>{nodes[0].all, nodes[1].all, nodes[2].all};
  };
  EXPECT_EQ(replay(job(900), cheap(), order::likely).turned, 0u);
  prediction p;
  p.least = p.likely = p.most = replay(job(31'000), cheap(), order::likely);
  EXPECT_EQ(p.likely.turned, 1u);
  EXPECT_DOUBLE_EQ(p.likely.turned_ns, 30'000);
  widen(p);
  EXPECT_DOUBLE_EQ(p.most.ns, p.likely.ns + 30'000);
  EXPECT_LT(p.least.ns, p.likely.ns);
  EXPECT_GE(p.least.ns, p.likely.work_ns / 3);
}

/// Thread 1 of a node works for so long, and takes the lock that node 0 keeps; then it ends.
std::vector<node_events> lock_of_node_0(const std::vector<std::uint64_t>& works_ns,
                                        const std::vector<unsigned>& first) {
  std::vector<node> nodes(works_ns.size());
  for (auto& n : nodes) (void)n.thread(event_type::met, 0);
  for (const unsigned i : first) {
    const auto asks = nodes[i].thread(event_type::asks, works_ns[i], barrier | 5, asked::lock);
    const auto context = nodes[i].executes(asks, 0, barrier | 5);
    nodes[i].leaves(0, context, 100);
    nodes[0].leaves(static_cast<std::uint16_t>(i), nodes[0].comes(static_cast<std::uint16_t>(i), 0, barrier | 5), 100);
  }
  for (unsigned i = 1; i < nodes.size(); ++i) {
    const auto grant = nodes[i].comes(0, 0, barrier | 5);
    (void)nodes[i].thread(event_type::goes_on, works_ns[i], grant);
    (void)nodes[i].thread(event_type::ends, works_ns[i]);
  }
  std::vector<node_events> job;
  for (auto& n : nodes) job.push_back(n.all);
  return job;
}

/// Two of them wait at the same time for the one that came first in the record: the job waits once.
TEST(Predict, WaitsForALockThatOverlapCountOnce) {
  const outcome o = replay(lock_of_node_0({0, 1'000, 2'000, 31'000}, {3, 1, 2}), cheap(), order::likely);
  EXPECT_EQ(o.turned, 2u);
  EXPECT_DOUBLE_EQ(o.turned_ns, 30'000);
}

/// Before it asks for the lock a node sends what others are to see: that asks for nothing.
TEST(Predict, WhatASenderTellsBeforeItAsksForALockIsNoRequest) {
  auto job = lock_of_node_0({0, 1'000, 31'000}, {1, 2});
  const outcome alone = replay(job, cheap(), order::likely);
  EXPECT_EQ(alone.turned, 0u);
  for (const std::uint16_t i : {std::uint16_t{2}, std::uint16_t{1}}) {  // they came the other way round
    auto& mine = job[i].all;
    mine.insert(mine.begin() + 3, event{event_type::leaves, 1, 0, 100, unit, 0, 3});
    job[0].all.insert(job[0].all.begin() + 1, event{event_type::comes, 1, i, 0, unit, 0, 0});
  }
  for (auto& e : job[0].all)  // contexts are told by their places
    if (e.type == event_type::leaves) e.value += 2;
  const outcome o = replay(job, cheap(), order::likely);
  EXPECT_EQ(o.undone, 0u);
  EXPECT_EQ(o.messages, alone.messages + 2);
  EXPECT_EQ(o.turned, 0u);
}

/// Who gives a lock back asks for none: another one waits for it, whoever came first.
TEST(Predict, WhoGivesALockBackAsksForNone) {
  auto job = lock_of_node_0({0, 1'000, 31'000}, {2, 1});
  EXPECT_EQ(replay(job, cheap(), order::likely).turned, 1u);
  for (auto& e : job[2].all)
    if (e.type == event_type::asks) e.kind = static_cast<std::uint8_t>(asked::unlock);
  const outcome o = replay(job, cheap(), order::likely);
  EXPECT_EQ(o.turned, 0u);
  prediction p;
  p.likely = o;
  EXPECT_GT(shares_of(p.likely).locks, 0.0) << "it waits all the same";
}

/// What nodes say until all have met is none of the time that is told.
TEST(Predict, MessagesBeforeAllHaveMetDoNotCount) {
  auto job = one_fault();
  const outcome before = replay(job, cheap(), order::likely);
  const auto met = [](node_events& n) {
    const auto at = std::ranges::find(n.all, event_type::met, &event::type);
    event e = *at;
    e.type = event_type::none;
    std::swap(*at, e);
    return e;
  };
  for (auto& n : job) {
    event late = met(n);
    late.type = event_type::met;
    late.value = late.ns = n.all.back().value;
    n.all.insert(n.all.end() - 1, late);
  }
  const outcome o = replay(job, cheap(), order::likely);
  EXPECT_EQ(before.messages, 2u);
  EXPECT_EQ(o.messages, 0u);
  EXPECT_EQ(o.bytes, 0u);
  EXPECT_DOUBLE_EQ(o.busiest_link_ns, 0);
}

/// Three nodes send to one: its link takes one message at a time.
TEST(Predict, ALinkTakesOneMessageAtATime) {
  std::vector<node> nodes(4);
  for (auto& n : nodes) (void)n.thread(event_type::met, 0);
  for (std::uint16_t i = 1; i < 4; ++i) {
    const auto asks = nodes[i].thread(event_type::asks, 0, i);
    nodes[i].leaves(0, nodes[i].executes(asks, 0, i), 10'000);
  }
  std::uint64_t last = 0;
  const auto waits = nodes[0].thread(event_type::asks, 0, 9);
  (void)nodes[0].executes(waits, 0, 9);
  for (std::uint16_t i = 1; i < 4; ++i) last = nodes[0].comes(i, 0, 9);
  (void)nodes[0].thread(event_type::goes_on, 0, last);
  (void)nodes[0].thread(event_type::ends, 0);
  std::vector<node_events> job;
  for (auto& n : nodes) job.push_back(n.all);
  EXPECT_DOUBLE_EQ(replay(job, cheap(), order::likely).ns, 10 + 1'000 + 3 * 10'000 + 20);
  hardware on = cheap();
  on.nodes_a_host = 2;  // two of them share the link out as well, one is at home
  EXPECT_DOUBLE_EQ(replay(job, on, order::likely).ns, 10 + 1'000 + 2 * 10'000 + 20);
}

/// Node 0 is there long before node 1: it waits for a barrier, of which the part counts when both are there.
TEST(Predict, SharesOfTimeAreOfTheTimeThatIsTold) {
  node a, b;
  (void)a.thread(event_type::met, 0);
  (void)b.thread(event_type::asks, 70'000, 0);  // before it has met
  (void)b.thread(event_type::goes_on, 70'000);
  (void)b.thread(event_type::met, 90'000);
  const auto a_asks = a.thread(event_type::asks, 2'000, barrier, asked::barrier);
  (void)a.executes(a_asks, 0, barrier);
  const auto b_asks = b.thread(event_type::asks, 91'000, barrier, asked::barrier);
  b.leaves(0, b.executes(b_asks, 0, barrier), 100);
  const auto arrival = a.comes(1, 0, barrier);
  a.leaves(1, arrival, 100);
  (void)a.thread(event_type::goes_on, 2'000, arrival);
  (void)b.thread(event_type::goes_on, 91'000, b.comes(0, 0, barrier));
  (void)a.thread(event_type::ends, 2'500);
  (void)b.thread(event_type::ends, 91'500);
  prediction p;
  p.likely = replay({a.all, b.all}, cheap(), order::likely);
  const shares s = shares_of(p.likely);
  EXPECT_DOUBLE_EQ(p.likely.work_ns, 500 + 1'500);
  EXPECT_LE(s.work + s.faults + s.barriers + s.locks + s.other, 100.001);
  EXPECT_NEAR(s.work + s.barriers, 100, 30);
  EXPECT_GT(s.barriers, 30);
}

/// A process of two threads, of which one asks for nothing: 4 ms of processor time in 2 ms.
TEST(Predict, WorkOfThreadsThatAskForNothingCounts) {
  node a;
  (void)a.thread(event_type::met, 1'000'000, 1'000'000);
  (void)a.thread(event_type::asks, 2'000'000, unit, asked::fault);
  (void)a.thread(event_type::goes_on, 2'000'000);
  (void)a.thread(event_type::ends, 3'000'000, 5'000'000);
  a.all.all.back().ns += 2'000'000;  // it has waited for the other one, which is none of sleep
  EXPECT_DOUBLE_EQ(replay({a.all}, cheap(), order::likely).unseen_ns, 0) << "of one thread: it is Quire's";
  hardware two = cheap();
  two.threads_a_node = 2;
  const outcome o = replay({a.all}, two, order::likely);
  EXPECT_DOUBLE_EQ(o.unseen_ns, 2'000'000);
  EXPECT_DOUBLE_EQ(o.work_ns, 4'000'000);
  EXPECT_DOUBLE_EQ(o.ns, 2'000'000);
  two.cores_a_node = 1;
  EXPECT_DOUBLE_EQ(replay({a.all}, two, order::likely).ns, 4'000'000) << "they share a core";
  (void)a.all.all.insert(a.all.all.begin() + 2, event{event_type::asks, 0, 2, 0, 0, 0, 1'000'000});
  EXPECT_DOUBLE_EQ(replay({a.all}, cheap(), order::likely).ns, 2'000'000);
}

TEST(Predict, RecordsThatLackMessagesAreTold) {
  auto job = one_fault();
  job[1].all[2].type = event_type::none;  // that the reply left
  EXPECT_EQ(replay(job, cheap(), order::likely).undone, 1u);
}

TEST(Predict, ANetworksFileIsReadAsItWasWritten) {
  std::string why;
  const auto read = read_network(write_network({"", 12'500, 1'000, 2'000, 118e6, 31'000, 90}), why);
  ASSERT_TRUE(read) << why;
  EXPECT_DOUBLE_EQ(read->latency_ns, 12'500);
  EXPECT_DOUBLE_EQ(read->bytes_a_second, 118e6);
  EXPECT_DOUBLE_EQ(read->wake_ns, 31'000);
}

TEST(Predict, ANetworksFileNeedNotSayHowLongWakingTakes) {
  std::string why;
  const auto read = read_network("latency_us 1\nsend_us 1\nreceive_us 1\nmegabytes_a_second 1000\n", why);
  ASSERT_TRUE(read) << why;
  EXPECT_DOUBLE_EQ(read->wake_ns, 7'000);
}

TEST(Predict, NonsenseInANetworksFileIsRefusedWithItsLine) {
  const auto refused = [](const std::string& text) {
    std::string why;
    return read_network(text, why) ? std::string("taken") : why;
  };
  EXPECT_EQ(refused("latency_us -3\n"), "line 1: latency_us is a number from 0 to 1000000");
  EXPECT_EQ(refused("# fine\nlatency_us 3 4\n"), "line 2: latency_us is a number from 0 to 1000000");
  EXPECT_EQ(refused("latency_us nan\n"), "line 1: latency_us is a number from 0 to 1000000");
  EXPECT_EQ(refused("speed 3\n"),
            "line 1: latency_us, send_us, receive_us, wake_us, beside_us or megabytes_a_second, and a number");
  EXPECT_EQ(refused("latency_us 3\nsend_us 1\nreceive_us 1\n"), "it has no megabytes_a_second");
}

}  // namespace
}  // namespace quire::tools::predict
