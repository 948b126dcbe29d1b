// SPDX-License-Identifier: BSD-3-Clause
// Job barrier, reduce and broadcast as transcripts.
#include <cmath>
#include <random>
#include <set>

#include "sync_cluster.hpp"

namespace quire::sync::sync_collective_test {
namespace {

using op = operation;

/// All nodes call the same; the outcomes by node.
template <class F>
std::vector<completion> all_call(cluster& c, F&& make) {
  std::vector<std::uint64_t> tokens;
  for (unsigned n = 0; n < c.nodes(); ++n) tokens.push_back(c.start(n, make(n)));
  c.settle();
  std::vector<completion> done;
  for (const auto t : tokens) {
    const auto one = c.take(t);
    EXPECT_TRUE(one.has_value());
    done.push_back(one.value_or(completion{}));
  }
  return done;
}

TEST(collective, the_barrier_of_two_nodes_is_one_message_each_way) {
  cluster c(2);
  const auto first = c.start(1, make_call(op::barrier_wait));
  c.settle();
  EXPECT_EQ(c.take_messages(), 1u);
  EXPECT_EQ(c.status_of(first), waits);
  EXPECT_EQ(c.status_of(0, make_call(op::barrier_wait)), QUIRE_OK);
  EXPECT_EQ(c.status_of(first), QUIRE_OK);
  EXPECT_EQ(c.take_messages(), 1u);
  c.expect_rest();
}

TEST(collective, one_node_needs_nobody) {
  cluster c(1);
  EXPECT_EQ(c.status_of(0, make_call(op::barrier_wait)), QUIRE_OK);
  EXPECT_EQ(values_of<double>(*c.run(0, make_reduce(std::vector<double>{2.5}, QUIRE_SUM)))[0], 2.5);
  EXPECT_EQ(c.take_messages(), 0u);
}

TEST(collective, a_barrier_costs_each_node_one_message_up_and_one_down) {
  for (const unsigned nodes : {3u, 9u, 10u, 73u, 1000u}) {
    cluster c(nodes);
    for (int round = 0; round < 3; ++round) {
      for (const auto& d : all_call(c, [](unsigned) { return make_call(op::barrier_wait); }))
        EXPECT_EQ(d.status, QUIRE_OK);
      EXPECT_EQ(c.take_messages(), 2 * (nodes - 1));
    }
    c.expect_rest();
  }
}

TEST(collective, nobody_passes_before_the_last_has_come) {
  constexpr unsigned nodes = 20;
  for (unsigned last = 0; last < nodes; ++last) {
    cluster c(nodes);
    std::vector<std::uint64_t> tokens;
    for (unsigned n = 0; n < nodes; ++n) {
      if (n != last) tokens.push_back(c.start(n, make_call(op::barrier_wait)));
    }
    c.settle();
    for (const auto t : tokens) EXPECT_TRUE(c.is_open(t));
    EXPECT_EQ(c.status_of(last, make_call(op::barrier_wait)), QUIRE_OK);
    for (const auto t : tokens) EXPECT_EQ(c.status_of(t), QUIRE_OK);
  }
}

TEST(collective, reduce_gives_everyone_the_result) {
  cluster c(30);
  const auto f = [&](quire_operation how) {
    return all_call(c, [how](unsigned n) {
      return make_reduce(std::vector<std::int64_t>{n + 1, -2 * std::int64_t{n}}, how);
    });
  };
  for (const auto& d : f(QUIRE_SUM)) EXPECT_EQ(values_of<std::int64_t>(d), (std::vector<std::int64_t>{465, -870}));
  for (const auto& d : f(QUIRE_MIN)) EXPECT_EQ(values_of<std::int64_t>(d), (std::vector<std::int64_t>{1, -58}));
  for (const auto& d : f(QUIRE_MAX)) EXPECT_EQ(values_of<std::int64_t>(d), (std::vector<std::int64_t>{30, 0}));
  for (const auto& d : all_call(c, [](unsigned n) {
         return make_reduce(std::vector<double>{n < 5 ? 2.0 : 1.0, 0.5}, QUIRE_PRODUCT);
       })) {
    EXPECT_EQ(values_of<double>(d), (std::vector<double>{32.0, 9.31322574615478515625e-10}));
  }
  for (const auto& d :
       all_call(c, [](unsigned) { return make_reduce(std::vector<std::int64_t>{INT64_MAX}, QUIRE_SUM); })) {
    EXPECT_EQ(values_of<std::int64_t>(d)[0], -30);  // wraps: 30 * (2^63 - 1)
  }
  c.expect_rest();
}

TEST(collective, reduce_takes_up_to_eight_values_and_also_none) {
  cluster c(10);
  for (std::uint32_t count = 0; count <= 8; ++count) {
    for (const auto& d :
         all_call(c, [count](unsigned n) { return make_reduce(std::vector<double>(count, n), QUIRE_MAX); })) {
      EXPECT_EQ(values_of<double>(d), std::vector<double>(count, 9.0));
    }
  }
}

TEST(collective, the_same_bits_everywhere_whatever_the_order_of_arrival) {
  constexpr unsigned nodes = 77;
  std::vector<double> given(nodes);
  std::mt19937_64 random(7);
  for (double& x : given)
    x = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 80) - 40);
  std::vector<std::uint64_t> seen;
  for (int run = 0; run < 50; ++run) {
    cluster c(nodes);
    std::vector<unsigned> order(nodes);
    for (unsigned n = 0; n < nodes; ++n) order[n] = n;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::uint64_t> tokens;
    for (const unsigned n : order) tokens.push_back(c.start(n, make_reduce(std::vector<double>{given[n]}, QUIRE_SUM)));
    while (!c.bag().empty()) c.deliver(random() % c.bag().size());
    for (const auto t : tokens) seen.push_back(values_of<std::uint64_t>(*c.take(t))[0]);
  }
  EXPECT_EQ(std::set<std::uint64_t>(seen.begin(), seen.end()).size(), 1u);
}

TEST(collective, broadcast_from_any_node) {
  cluster c(30);
  for (std::uint32_t root = 0; root < 30; ++root) {
    for (const std::uint32_t bytes : {0u, 1u, 63u, 64u}) {
      const std::vector<std::byte> given(bytes, static_cast<std::byte>(root + bytes));
      const auto done = all_call(c, [&](unsigned n) {
        call b = make_call(op::broadcast, 0, 0, root);
        b.count = bytes;
        if (n == root) b.values = value(given);
        return b;
      });
      for (const auto& d : done) {
        EXPECT_EQ(d.status, QUIRE_OK);
        EXPECT_EQ(values_of<std::byte>(d), given);
      }
    }
  }
}

TEST(collective, calls_that_differ_are_refused_on_all_nodes_and_the_next_round_is_well) {
  const call barrier = make_call(op::barrier_wait);
  const call sum = make_reduce(std::vector<double>{1}, QUIRE_SUM);
  const call sum_of_two = make_reduce(std::vector<double>{1, 2}, QUIRE_SUM);
  const call least = make_reduce(std::vector<double>{1}, QUIRE_MIN);
  const call integers = make_reduce(std::vector<std::int64_t>{1}, QUIRE_SUM);
  call bad_operation = sum;
  bad_operation.combine = 4;
  call too_many = sum;
  too_many.count = 9;
  call cast = make_call(op::broadcast, 0, 0, 0);
  cast.count = 4;
  cast.values = value(std::as_bytes(std::span("abcd", 4)));
  call cast_from_5 = cast;
  cast_from_5.operand = 5;
  call cast_of_3 = cast;
  cast_of_3.count = 3;
  call cast_from_nowhere = cast;
  cast_from_nowhere.operand = 12;
  const std::vector<std::pair<call, call>> pairs = {
      {sum, barrier},       {sum, sum_of_two},         {sum, least},   {sum, integers},
      {sum, bad_operation}, {sum, too_many},           {sum, cast},    {cast, cast_from_5},
      {cast, cast_of_3},    {cast, cast_from_nowhere}, {barrier, cast}};
  cluster c(12);
  for (const auto& [most, one] : pairs) {
    for (const unsigned odd : {0u, 3u, 11u}) {
      for (const auto& d : all_call(c, [&](unsigned n) { return n == odd ? one : most; }))
        EXPECT_EQ(d.status, QUIRE_INVALID);
      for (const auto& d : all_call(c, [&](unsigned) { return sum; }))
        EXPECT_EQ(values_of<double>(d), std::vector<double>{12});
    }
  }
  c.expect_rest();
}

TEST(collective, a_second_thread_of_a_node_is_refused) {
  cluster c(2);
  const auto first = c.start(0, make_call(op::barrier_wait, 0, 0));
  EXPECT_EQ(c.status_of(0, make_call(op::barrier_wait, 0, 1)), QUIRE_INVALID);
  EXPECT_EQ(c.status_of(1, make_call(op::barrier_wait)), QUIRE_OK);
  EXPECT_EQ(c.status_of(first), QUIRE_OK);
  c.expect_rest();
}

TEST(collective, the_root_waits_for_the_others_and_both_cost_one_round) {
  for (const unsigned nodes : {1u, 2u, 3u, 10u, 73u}) {
    cluster c(nodes);
    for (unsigned last = 1; last < std::max(nodes, 2u); ++last) {
      call cast = make_call(op::broadcast, 0, 0, 0);
      cast.count = 4;
      const auto awaits = c.start(0, make_call(op::await_nodes));
      std::vector<std::uint64_t> tokens;
      for (unsigned n = 1; n < nodes; ++n)
        if (n != last) tokens.push_back(c.start(n, cast));
      c.settle();
      EXPECT_EQ(c.is_open(awaits), nodes > 1);
      if (nodes > 1) tokens.push_back(c.start(last, cast));
      c.settle();
      EXPECT_EQ(c.status_of(awaits), QUIRE_OK);
      for (const auto t : tokens) EXPECT_TRUE(c.is_open(t));
      EXPECT_EQ(c.status_of(0, make_call(op::await_nodes)), QUIRE_OK);  // they still wait
      cast.values = value(std::as_bytes(std::span("abcd", 4)));
      EXPECT_EQ(c.status_of(0, cast), QUIRE_OK);
      for (const auto t : tokens) EXPECT_EQ(c.status_of(t), QUIRE_OK);
      EXPECT_EQ(c.take_messages(), 2 * (nodes - 1));
    }
    c.expect_rest();
  }
}

TEST(collective, a_wait_of_the_root_that_cannot_be_is_refused) {
  cluster c(3);
  EXPECT_EQ(c.status_of(1, make_call(op::await_nodes)), QUIRE_INVALID);
  const auto barrier = c.start(0, make_call(op::barrier_wait));
  EXPECT_EQ(c.status_of(0, make_call(op::await_nodes, 0, 1)), QUIRE_INVALID);
  for (const unsigned n : {1u, 2u}) (void)c.run(n, make_call(op::barrier_wait));
  EXPECT_EQ(c.status_of(barrier), QUIRE_OK);
  const auto awaits = c.start(0, make_call(op::await_nodes));
  EXPECT_EQ(c.status_of(0, make_call(op::await_nodes, 0, 1)), QUIRE_INVALID);
  // Others that differ: it hears so, and the root's own call of that round too.
  const auto first = c.start(1, make_call(op::barrier_wait));
  const auto second = c.start(2, make_reduce(std::vector<double>{1}, QUIRE_SUM));
  c.settle();
  for (const auto t : {awaits, first, second}) EXPECT_EQ(c.status_of(t), QUIRE_INVALID);
  EXPECT_EQ(c.status_of(0, make_call(op::await_nodes)), QUIRE_INVALID);
  EXPECT_EQ(c.status_of(0, make_call(op::barrier_wait)), QUIRE_INVALID);
  for (const auto& d : all_call(c, [](unsigned) { return make_call(op::barrier_wait); })) EXPECT_EQ(d.status, QUIRE_OK);
  const auto lost = c.start(0, make_call(op::await_nodes));
  c.lose_peer(0);
  EXPECT_EQ(c.status_of(lost), QUIRE_PEER_LOST);
  c.expect_rest();
}

call within(meeting m, call c = make_call(op::barrier_wait)) {
  c.within = m;
  return c;
}

/// What the nodes are told of a refused round.
std::string told(const std::optional<completion>& c) {
  EXPECT_TRUE(c.has_value());
  if (!c) return {};
  EXPECT_EQ(c->status, QUIRE_INVALID);
  const auto why = mismatch_in(c->values);
  EXPECT_TRUE(why.has_value());
  return why ? text_of(*why) : "";
}

TEST(collective, the_end_of_one_node_meets_no_barrier_of_another) {
  for (const unsigned ends : {0u, 1u}) {
    cluster c(2);
    const auto barrier = c.start(1 - ends, make_call(op::barrier_wait));
    const auto end = c.start(ends, within(meeting::end));
    c.settle();
    for (const auto t : {barrier, end}) {
      const std::string text = told(c.take(t));
      EXPECT_NE(text.find("node " + std::to_string(ends) + " is in quire_end()"), std::string::npos) << text;
      EXPECT_NE(text.find("node " + std::to_string(1 - ends) + " is in quire_barrier_wait()"), std::string::npos)
          << text;
    }
    c.expect_rest();
  }
}

TEST(collective, what_cannot_meet_is_refused_at_once_whoever_else_has_not_called) {
  constexpr unsigned nodes = tree_arity + 1;  // of larger jobs: where the ways of the two meet
  for (unsigned ends = 0; ends < nodes; ++ends) {
    for (unsigned other = 0; other < nodes; ++other) {
      if (other == ends) continue;
      cluster c(nodes);
      const auto barrier = c.start(other, make_call(op::barrier_wait));
      EXPECT_TRUE(c.is_open(barrier));
      const auto end = c.start(ends, within(meeting::end));
      c.settle();
      EXPECT_NE(told(c.take(end)).find("while node"), std::string::npos);
      EXPECT_NE(told(c.take(barrier)).find("quire_end()"), std::string::npos);
      // Who was not in it hears the same from its next call, whatever that is, and then all are together again.
      for (unsigned n = 0; n < nodes; ++n) {
        if (n == ends || n == other) continue;
        EXPECT_NE(told(c.run(n, within(meeting::end))).find("quire_end()"), std::string::npos);
      }
      for (const auto& d : all_call(c, [](unsigned) { return within(meeting::end); })) EXPECT_EQ(d.status, QUIRE_OK);
      c.expect_rest();
    }
  }
}

TEST(collective, a_step_of_one_call_is_no_step_of_another) {
  const call sum = make_reduce(std::vector<std::int64_t>{1}, QUIRE_SUM);
  cluster c(4);
  for (int one = 0; one <= static_cast<int>(meeting::last); ++one) {
    for (int other = 0; other <= static_cast<int>(meeting::last); ++other) {
      const auto done =
          all_call(c, [&](unsigned n) { return within(static_cast<meeting>(n == 2 ? other : one), sum); });
      for (const auto& d : done) EXPECT_EQ(d.status, one == other ? QUIRE_OK : QUIRE_INVALID);
    }
  }
  c.expect_rest();
}

TEST(collective, arguments_that_no_call_can_have_are_named) {
  cluster c(3);
  call bad = make_reduce(std::vector<double>{1}, QUIRE_SUM);
  bad.count = 9;
  EXPECT_NE(told(c.run(2, bad)).find("node 2 is in a collective with arguments that are not valid"), std::string::npos);
}

/// Programs that seldom agree: in each round all nodes have the same outcome, which is good if and only if all have
/// called the same, and nobody waits for ever.
TEST(collective, programs_that_differ_at_random_stay_together) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    const unsigned nodes = 2 + static_cast<unsigned>(random() % (seed % 10 == 0 ? 80 : 12));
    constexpr std::size_t rounds = 12;
    const std::vector<call> choices = {make_call(op::barrier_wait), within(meeting::end),
                                       make_reduce(std::vector<double>{1}, QUIRE_MAX),
                                       within(meeting::checkpoint, make_reduce(std::vector<double>{1}, QUIRE_MAX))};
    std::vector<std::vector<unsigned>> plan(rounds, std::vector<unsigned>(nodes));
    for (auto& round : plan) {
      const auto most = static_cast<unsigned>(random() % choices.size());
      for (auto& one : round) one = most;
      if (random() % 2 == 0)
        for (unsigned odd = 1 + static_cast<unsigned>(random() % 3); odd > 0; --odd)
          round[random() % nodes] = static_cast<unsigned>(random() % choices.size());
    }
    cluster c(nodes);
    std::vector<std::vector<quire_status>> got(nodes);
    std::vector<std::uint64_t> open(nodes, 0);
    std::uint64_t awaits = 0;  // node 0, before some of its calls
    for (std::size_t steps = 0; steps < 1'000'000; ++steps) {
      const auto n = static_cast<unsigned>(random() % nodes);
      if (open[n] != 0) {
        if (const auto done = c.take(open[n])) {
          got[n].push_back(done->status);
          open[n] = 0;
        }
      } else if (n == 0 && awaits != 0) {
        if (c.take(awaits)) awaits = 0;
      } else if (n == 0 && got[n].size() < rounds && random() % 8 == 0) {
        awaits = c.start(n, make_call(op::await_nodes));
      } else if (got[n].size() < rounds && random() % 4 == 0) {
        open[n] = c.start(n, choices[plan[got[n].size()][n]]);
      }
      if (!c.bag().empty()) deliver_any(c, random);
      if (std::all_of(got.begin(), got.end(), [](const auto& g) { return g.size() == rounds; })) break;
    }
    for (std::size_t r = 0; r < rounds; ++r) {
      const bool alike = std::set<unsigned>(plan[r].begin(), plan[r].end()).size() == 1;
      for (unsigned n = 0; n < nodes; ++n) {
        ASSERT_EQ(got[n].size(), rounds) << "seed " << seed << ": node " << n << " waits for ever";
        ASSERT_EQ(got[n][r], alike ? QUIRE_OK : QUIRE_INVALID) << "seed " << seed << ", round " << r << ", node " << n;
      }
    }
    c.settle();
    c.expect_rest();
  }
}

}  // namespace
}  // namespace quire::sync::sync_collective_test
