// SPDX-License-Identifier: BSD-3-Clause
// Groups of threads: who meets whom, what it costs, how arrays travel, and what is refused.
#include <random>
#include <set>

#include "sync_cluster.hpp"
#include "sync/mismatch.hpp"

namespace quire::sync::sync_group_test {
namespace {

using op = operation;

constexpr array_limits small{.piece_bytes = 64, .window = 2};

/// A cluster with a group of so many threads of each node, all of which are members. Thread t of a node has place t.
struct team {
  explicit team(std::vector<std::uint32_t> threads)
      : c(static_cast<unsigned>(threads.size()), small), by_node(std::move(threads)) {
    for (unsigned n = 0; n < c.nodes(); ++n) {
      call make = make_call(op::group_create);
      make.data = std::as_writable_bytes(std::span(by_node));
      const auto made = c.run(n, make);
      EXPECT_EQ(made->status, QUIRE_OK);
      EXPECT_TRUE(id == 0 || id == made->object) << "nodes call a group by different names";
      id = made->object;
      for (std::uint32_t t = 0; t < by_node[n]; ++t)
        EXPECT_EQ(c.status_of(n, make_call(op::group_join, id, t, t)), QUIRE_OK);
    }
  }
  [[nodiscard]] call wait(std::uint32_t thread) const { return make_call(op::group_wait, id, thread); }
  /// All members call, node by node; `last` of them the last one.
  template <class F>
  std::vector<std::uint64_t> all_call(F&& f) {
    std::vector<std::uint64_t> tokens;
    for (unsigned n = 0; n < c.nodes(); ++n)
      for (std::uint32_t t = 0; t < by_node[n]; ++t) tokens.push_back(c.start(n, f(n, t)));
    return tokens;
  }
  cluster c;
  std::vector<std::uint32_t> by_node;
  std::uint64_t id = 0;
};

call make_array(op what, std::uint64_t group, std::uint32_t thread, std::vector<double>& values,
                quire_operation how = QUIRE_SUM) {
  call c = make_call(what, group, thread);
  c.count = static_cast<std::uint32_t>(values.size() * (what == op::group_broadcast ? sizeof(double) : 1));
  c.combine = how;
  const auto bytes = std::as_writable_bytes(std::span(values));
  if (is_array(what, c.count)) {
    c.data = bytes;
  } else {
    c.values = value(bytes);
  }
  return c;
}

TEST(group, threads_meet_within_a_node_before_nodes_do) {
  team g({3, 2, 1});
  std::vector<std::uint64_t> open;
  open.push_back(g.c.start(0, g.wait(0)));
  open.push_back(g.c.start(0, g.wait(2)));
  open.push_back(g.c.start(1, g.wait(1)));
  EXPECT_EQ(g.c.take_messages(), 0u) << "nobody but the last thread of a node says anything";
  open.push_back(g.c.start(1, g.wait(0)));
  open.push_back(g.c.start(2, g.wait(0)));
  g.c.settle();
  EXPECT_EQ(g.c.take_messages(), 2u);
  for (const auto t : open) EXPECT_TRUE(g.c.is_open(t));
  open.push_back(g.c.start(0, g.wait(1)));
  g.c.settle();
  EXPECT_EQ(g.c.take_messages(), 2u) << "one down for each node but the first";
  for (const auto t : open) EXPECT_EQ(g.c.status_of(t), QUIRE_OK);
  g.c.expect_rest();
}

TEST(group, a_node_without_threads_takes_no_part) {
  team g({0, 2, 0, 1});
  const auto open = g.all_call([&](unsigned, std::uint32_t t) { return g.wait(t); });
  g.c.settle();
  for (const auto t : open) EXPECT_EQ(g.c.status_of(t), QUIRE_OK);
  EXPECT_EQ(g.c.take_messages(), 2u);
  EXPECT_EQ(g.c.status_of(0, g.wait(0)), QUIRE_INVALID);
  EXPECT_EQ(g.c.status_of(2, make_call(op::group_join, g.id, 0, 0)), QUIRE_INVALID);
  g.c.expect_rest();
}

TEST(group, two_groups_and_the_job_do_not_meet_each_other) {
  team g({2, 2});
  std::vector<std::uint64_t> other_ids;
  for (unsigned n = 0; n < 2; ++n) {
    call make = make_call(op::group_create);
    make.data = std::as_writable_bytes(std::span(g.by_node));
    other_ids.push_back(g.c.run(n, make)->object);
    for (std::uint32_t t = 0; t < 2; ++t)
      EXPECT_EQ(g.c.status_of(n, make_call(op::group_join, other_ids[n], t + 10, t)), QUIRE_OK);
  }
  ASSERT_EQ(other_ids[0], other_ids[1]);
  ASSERT_NE(other_ids[0], g.id);
  // The nodes come to them in different orders.
  std::vector<std::uint64_t> open;
  for (unsigned n = 0; n < 2; ++n) {
    const auto first = n == 0 ? g.id : other_ids[0], second = n == 0 ? other_ids[0] : g.id;
    if (n == 1) open.push_back(g.c.start(n, make_call(op::barrier_wait)));
    for (const auto id : {first, second})
      for (std::uint32_t t = 0; t < 2; ++t)
        open.push_back(g.c.start(n, make_call(op::group_wait, id, id == g.id ? t : t + 10)));
    if (n == 0) open.push_back(g.c.start(n, make_call(op::barrier_wait)));
  }
  g.c.settle();
  for (const auto t : open) EXPECT_EQ(g.c.status_of(t), QUIRE_OK);
  g.c.expect_rest();
}

TEST(group, members_are_told_apart) {
  team g({2, 1});
  EXPECT_EQ(g.c.status_of(0, make_call(op::group_join, g.id, 7, 0)), QUIRE_EXISTS);
  EXPECT_EQ(g.c.status_of(0, make_call(op::group_join, g.id, 7, 2)), QUIRE_INVALID) << "there is no such place";
  EXPECT_EQ(g.c.status_of(0, make_call(op::group_join, g.id, 0, 1)), QUIRE_INVALID) << "the thread has a place";
  EXPECT_EQ(g.c.status_of(0, g.wait(7)), QUIRE_INVALID) << "no member";
  EXPECT_EQ(g.c.status_of(0, make_call(op::group_leave, g.id, 7)), QUIRE_INVALID);
  EXPECT_EQ(g.c.status_of(0, make_call(op::group_leave, g.id, 1)), QUIRE_OK);
  EXPECT_EQ(g.c.status_of(0, g.wait(1)), QUIRE_INVALID) << "no member any more";
  // Others wait until the place is taken again.
  const auto first = g.c.start(0, g.wait(0)), there = g.c.start(1, g.wait(0));
  g.c.settle();
  EXPECT_TRUE(g.c.is_open(first));
  EXPECT_EQ(g.c.status_of(0, make_call(op::group_join, g.id, 7, 1)), QUIRE_OK);
  const auto last = g.c.start(0, g.wait(7));
  g.c.settle();
  for (const auto t : {first, there, last}) EXPECT_EQ(g.c.status_of(t), QUIRE_OK);
  g.c.expect_rest();
}

TEST(group, handles_that_no_group_has) {
  team g({1, 1});
  EXPECT_EQ(g.c.status_of(0, make_call(op::group_wait, g.id + 1)), QUIRE_NOT_FOUND);
  EXPECT_EQ(g.c.status_of(0, make_call(op::group_wait, 12345)), QUIRE_INVALID);
  EXPECT_EQ(g.c.status_of(0, make_call(op::group_join, 0)), QUIRE_INVALID);
  EXPECT_EQ(g.c.status_of(0, make_call(op::group_destroy, 0)), QUIRE_INVALID);
  call make = make_call(op::group_create);
  std::vector<std::uint32_t> none(2);
  make.data = std::as_writable_bytes(std::span(none));
  EXPECT_EQ(g.c.status_of(0, make), QUIRE_INVALID);
  make.data = {};
  EXPECT_EQ(g.c.status_of(0, make), QUIRE_INVALID);
}

TEST(group, its_end_ends_those_who_wait) {
  team g({2, 1});
  const auto waits_there = g.c.start(0, g.wait(0));
  EXPECT_EQ(g.c.status_of(0, make_call(op::group_destroy, g.id, 9)), QUIRE_OK);
  EXPECT_EQ(g.c.status_of(waits_there), QUIRE_NOT_FOUND);
  EXPECT_EQ(g.c.status_of(0, g.wait(1)), QUIRE_NOT_FOUND);
  // What others send meanwhile is for nobody.
  (void)g.c.start(1, g.wait(0));
  g.c.settle();
  EXPECT_EQ(g.c.status_of(1, make_call(op::group_destroy, g.id, 9)), QUIRE_OK);
}

// ---- Values ----

TEST(group, values_of_all_members_are_combined_in_order) {
  team g({2, 3, 1});
  // A sum whose bits depend on the order: first the members of a node, then nodes.
  const auto mine = [](unsigned n, std::uint32_t t) { return 1.0 / (1 + n * 7 + t * 3) * (t % 2 == 0 ? 1e8 : 1); };
  double of_node[3];
  for (unsigned n = 0; n < 3; ++n) {
    of_node[n] = mine(n, 0);
    for (std::uint32_t t = 1; t < g.by_node[n]; ++t) of_node[n] += mine(n, t);
  }
  const double expected = of_node[0] + of_node[1] + of_node[2];
  for (int order = 0; order < 6; ++order) {
    std::vector<std::uint64_t> open;
    for (unsigned i = 0; i < 3; ++i) {
      const unsigned n = (i + static_cast<unsigned>(order)) % 3;
      for (std::uint32_t j = 0; j < g.by_node[n]; ++j) {
        const std::uint32_t t = order % 2 == 0 ? j : g.by_node[n] - 1 - j;
        std::vector<double> v{mine(n, t)};
        open.push_back(g.c.start(n, make_array(op::group_reduce_f64, g.id, t, v)));
      }
      if (order < 3) g.c.settle();
    }
    g.c.settle();
    for (const auto token : open) {
      const auto done = g.c.take(token);
      ASSERT_TRUE(done && done->status == QUIRE_OK);
      EXPECT_EQ(values_of<double>(*done), std::vector<double>{expected});
    }
  }
}

/// Arrays of all sizes about those of pieces, over trees of all sizes, with members on some nodes or all.
TEST(group, arrays_of_any_size) {
  std::mt19937_64 random(1);
  for (int times = 0; times < 200; ++times) {
    std::vector<std::uint32_t> threads(1 + random() % 24);
    for (auto& t : threads) t = static_cast<std::uint32_t>(random() % 3);
    threads[random() % threads.size()] = 2;
    team g(threads);
    const std::size_t size = random() % 70;
    const bool broadcast = random() % 2 == 0;
    std::uint32_t members = 0;
    for (const auto t : threads) members += t;
    const auto root = static_cast<std::uint32_t>(random() % members);
    std::vector<std::vector<double>> arrays;
    for (std::uint32_t m = 0; m < members; ++m) {
      arrays.emplace_back(size);
      for (std::size_t i = 0; i < size; ++i) arrays.back()[i] = static_cast<double>(m * 1000 + i);
    }
    std::vector<double> expected = arrays[root];
    for (std::size_t i = 0; i < size && !broadcast; ++i) {
      expected[i] = 0;
      for (const auto& a : arrays) expected[i] += a[i];
    }
    std::uint32_t member = 0;
    const auto open = g.all_call([&](unsigned, std::uint32_t t) {
      call c = make_array(broadcast ? op::group_broadcast : op::group_reduce_f64, g.id, t, arrays[member++]);
      c.operand = root;
      return c;
    });
    while (!g.c.bag().empty()) g.c.deliver(random() % g.c.bag().size());  // in any order
    for (std::uint32_t m = 0; m < members; ++m) {
      const auto done = g.c.take(open[m]);
      ASSERT_TRUE(done && done->status == QUIRE_OK) << times;
      EXPECT_EQ(size * 8 <= value::array_capacity ? values_of<double>(*done) : arrays[m], expected)
          << times << ", member " << m;
    }
    g.c.expect_rest();
  }
}

TEST(group, arrays_are_combined_in_the_order_of_single_values) {
  team g({2, 1, 3, 1, 1, 1, 1, 1, 1, 1, 2});
  constexpr std::size_t size = 20;
  const auto mine = [](unsigned n, std::uint32_t t, std::size_t i) {
    return 1.0 / static_cast<double>(1 + n * 7 + t * 3 + i) * ((n + t) % 3 == 0 ? 1e9 : 1);
  };
  std::vector<double> expected;
  for (std::size_t i = 0; i < size; ++i) {
    std::vector<std::uint64_t> open = g.all_call([&](unsigned n, std::uint32_t t) {
      std::vector<double> one{mine(n, t, i)};
      return make_array(op::group_reduce_f64, g.id, t, one);
    });
    g.c.settle();
    for (const auto token : open) expected.resize(i), expected.push_back(values_of<double>(*g.c.take(token))[0]);
  }
  std::vector<std::vector<double>> arrays;
  for (unsigned n = 0; n < g.c.nodes(); ++n)
    for (std::uint32_t t = 0; t < g.by_node[n]; ++t) {
      arrays.emplace_back();
      for (std::size_t i = 0; i < size; ++i) arrays.back().push_back(mine(n, t, i));
    }
  std::size_t next = 0;
  const auto open =
      g.all_call([&](unsigned, std::uint32_t t) { return make_array(op::group_reduce_f64, g.id, t, arrays[next++]); });
  std::mt19937_64 random(3);
  while (!g.c.bag().empty()) g.c.deliver(random() % g.c.bag().size());
  for (const auto token : open) EXPECT_EQ(g.c.status_of(token), QUIRE_OK);
  for (const auto& a : arrays) EXPECT_EQ(a, expected);
  g.c.expect_rest();
}

TEST(group, arrays_of_the_job) {
  cluster c(5, small);
  std::vector<std::vector<double>> arrays(5, std::vector<double>(40, 1.5));
  std::vector<std::uint64_t> open;
  for (unsigned n = 0; n < 5; ++n) open.push_back(c.start(n, make_array(op::group_reduce_f64, 0, n, arrays[n])));
  c.settle();
  for (unsigned n = 0; n < 5; ++n) {
    EXPECT_EQ(c.status_of(open[n]), QUIRE_OK);
    EXPECT_EQ(arrays[n], std::vector<double>(40, 7.5));
  }
  c.expect_rest();
}

TEST(group, an_array_takes_no_more_room_than_its_window) {
  team g({1, 1});
  std::vector<std::vector<double>> arrays(2, std::vector<double>(8 * 100));
  for (unsigned n = 0; n < 2; ++n) (void)g.c.start(n, make_array(op::group_reduce_f64, g.id, 0, arrays[n]));
  std::size_t most = 0;
  while (!g.c.bag().empty()) {
    most = std::max(most, g.c.bag().size());
    g.c.deliver_first();
  }
  EXPECT_LE(most, small.window);
}

// ---- Calls that differ ----

std::string told(const std::optional<completion>& c) {
  EXPECT_TRUE(c.has_value()) << "waits for ever";
  if (!c) return "";
  EXPECT_EQ(c->status, QUIRE_INVALID);
  const auto why = mismatch_in(c->values);
  EXPECT_TRUE(why.has_value());
  return why ? text_of(*why) : "";
}

TEST(group, threads_of_one_node_that_differ_are_refused_at_once) {
  team g({2, 2});
  std::vector<double> v(1);
  const auto waits_here = g.c.start(0, g.wait(0));
  const auto reduces = g.c.start(0, make_array(op::group_reduce_f64, g.id, 1, v));
  g.c.settle();
  for (const auto t : {waits_here, reduces})
    EXPECT_EQ(told(g.c.take(t)),
              "node 0 is in quire_group_wait() while another thread of it is in quire_group_reduce_f64() of 1 values "
              "by QUIRE_SUM");
  // The others hear of it from their next call, whatever that is.
  EXPECT_NE(told(g.c.run(1, g.wait(0))).find("node 0"), std::string::npos);
  EXPECT_NE(told(g.c.run(1, make_array(op::group_reduce_f64, g.id, 1, v))).find("node 0"), std::string::npos);
  const auto open = g.all_call([&](unsigned, std::uint32_t t) { return g.wait(t); });
  g.c.settle();
  for (const auto t : open) EXPECT_EQ(g.c.status_of(t), QUIRE_OK);
  g.c.expect_rest();
}

TEST(group, who_joins_after_a_refusal_hears_of_it) {
  team g({2, 1});
  std::vector<double> v(1);
  EXPECT_EQ(g.c.status_of(0, make_call(op::group_leave, g.id, 1)), QUIRE_OK);
  const auto there = g.c.start(1, make_array(op::group_reduce_f64, g.id, 0, v)), here = g.c.start(0, g.wait(0));
  g.c.settle();
  EXPECT_NE(told(g.c.take(here)).find("node 1"), std::string::npos);
  EXPECT_NE(told(g.c.take(there)).find("node 0"), std::string::npos);
  EXPECT_EQ(g.c.status_of(0, make_call(op::group_join, g.id, 5, 1)), QUIRE_OK);
  EXPECT_NE(told(g.c.run(0, g.wait(5))).find("node 1"), std::string::npos);
  const auto a = g.c.start(0, g.wait(0)), b = g.c.start(0, g.wait(5)), c = g.c.start(1, g.wait(0));
  g.c.settle();
  for (const auto t : {a, b, c}) EXPECT_EQ(g.c.status_of(t), QUIRE_OK);
  g.c.expect_rest();
}

TEST(group, arrays_that_differ_are_refused_before_they_travel) {
  team g({1, 1});
  std::vector<double> longer(30, 1), shorter(29, 2);
  const auto a = g.c.start(0, make_array(op::group_reduce_f64, g.id, 0, longer)),
             b = g.c.start(1, make_array(op::group_reduce_f64, g.id, 0, shorter));
  g.c.settle();
  EXPECT_NE(told(g.c.take(a)).find("29 values"), std::string::npos);
  EXPECT_NE(told(g.c.take(b)).find("30 values"), std::string::npos);
  EXPECT_EQ(longer, std::vector<double>(30, 1)) << "nothing has changed";
  g.c.expect_rest();
}

TEST(group, a_root_that_is_no_member_is_refused) {
  team g({1, 1});
  std::vector<double> v(1);
  call bad = make_array(op::group_broadcast, g.id, 0, v);
  bad.operand = 2;
  EXPECT_NE(told(g.c.run(0, bad)).find("arguments that are not valid"), std::string::npos);
}

/// Programs that seldom agree: in each round all members have the same outcome, which is good if and only if all have
/// called the same, and nobody waits for ever.
TEST(group, programs_that_differ_at_random_stay_together) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> threads(2 + random() % 10);
    for (auto& t : threads) t = static_cast<std::uint32_t>(random() % 4);
    threads[0] += 1;
    team g(threads);
    struct member {
      unsigned node;
      std::uint32_t thread;
      std::uint64_t open = 0;
      std::vector<quire_status> got{};
      std::vector<double> array = std::vector<double>(30, 1);
    };
    std::vector<member> members;
    for (unsigned n = 0; n < threads.size(); ++n)
      for (std::uint32_t t = 0; t < threads[n]; ++t) members.push_back({n, t});
    constexpr std::size_t rounds = 12;
    std::vector<std::vector<unsigned>> plan(rounds, std::vector<unsigned>(members.size()));
    for (auto& round : plan) {
      const auto most = static_cast<unsigned>(random() % 3);
      for (auto& one : round) one = most;
      if (random() % 2 == 0) round[random() % members.size()] = static_cast<unsigned>(random() % 3);
    }
    const auto done = [&] {
      return std::ranges::all_of(members, [](const member& m) { return m.got.size() == rounds; });
    };
    for (std::size_t steps = 0; steps < 1'000'000 && !done(); ++steps) {
      const std::size_t i = random() % members.size();
      member& m = members[i];
      if (m.open != 0) {
        if (const auto ended = g.c.take(m.open)) {
          m.got.push_back(ended->status);
          m.open = 0;
        }
      } else if (m.got.size() < rounds && random() % 4 == 0) {
        const unsigned what = plan[m.got.size()][i];
        std::vector<double> one{1};
        m.open =
            g.c.start(m.node, what == 0 ? g.wait(m.thread)
                                        : make_array(op::group_reduce_f64, g.id, m.thread, what == 1 ? one : m.array));
      }
      if (!g.c.bag().empty()) deliver_any(g.c, random);
    }
    for (std::size_t r = 0; r < rounds; ++r) {
      const bool alike = std::set<unsigned>(plan[r].begin(), plan[r].end()).size() == 1;
      for (std::size_t i = 0; i < members.size(); ++i) {
        ASSERT_EQ(members[i].got.size(), rounds) << "seed " << seed << ": member " << i << " waits for ever";
        ASSERT_EQ(members[i].got[r], alike ? QUIRE_OK : QUIRE_INVALID)
            << "seed " << seed << ", round " << r << ", member " << i;
      }
    }
    g.c.settle();
    g.c.expect_rest();
  }
}

TEST(group, a_lost_job_ends_all) {
  team g({2, 1});
  std::vector<double> v(100);
  const auto a = g.c.start(0, g.wait(0));
  g.c.lose_peer(0);
  EXPECT_EQ(g.c.status_of(a), QUIRE_PEER_LOST);
  EXPECT_EQ(g.c.status_of(0, g.wait(1)), QUIRE_PEER_LOST);
}

}  // namespace
}  // namespace quire::sync::sync_group_test
