// SPDX-License-Identifier: BSD-3-Clause
// Write notices: what they look like on the wire, and what a node remembers of them and tells whom.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "protocol/release/history.hpp"
#include "sim/random.hpp"

namespace quire::release::release_history_test {
namespace {

using model::region_id;

node_id node(unsigned n) { return node_id{static_cast<std::uint16_t>(n)}; }

notice run(unsigned writer, std::uint32_t interval, std::uint64_t first, std::uint32_t count, bool last = false) {
  notice n;
  n.writer = node(writer);
  n.interval = interval;
  n.first = first;
  n.count = count;
  n.last = last;
  return n;
}

std::vector<notice> read_all(std::span<const std::byte> bytes, bool& ok) {
  std::vector<notice> all;
  notice_reader in(bytes);
  for (notice n; in.next(n);) all.push_back(n);
  ok = in.ok();
  return all;
}

// ---- on the wire

TEST(release_notices, any_records_come_back_as_they_were) {
  sim::random rng(1);
  for (int round = 0; round < 2'000; ++round) {
    std::array<std::byte, 512> room{};
    notice_writer out(room);
    std::vector<notice> sent;
    for (;;) {
      notice n = run(static_cast<unsigned>(rng.below(model::max_nodes)),
                     static_cast<std::uint32_t>(rng.next() >> rng.between(32, 63)), rng.next() >> rng.below(64),
                     static_cast<std::uint32_t>(rng.below(max_notice_units + 1) >> rng.below(32)), rng.chance(30));
      n.region = region_id{static_cast<std::uint16_t>(rng.next() >> rng.between(48, 63))};
      if (rng.chance(30)) {
        n.moves = static_cast<std::uint16_t>(1 + rng.below(65'535));
        n.home = node(static_cast<unsigned>(rng.below(model::max_nodes)));
      }
      if (rng.chance(30)) n.life = static_cast<std::uint32_t>(rng.next() >> rng.between(32, 63));
      if (!sent.empty() && rng.chance(60)) {
        n.writer = sent.back().writer;
        n.region = sent.back().region;
        n.life = sent.back().life;
        n.interval = sent.back().interval;
      }
      if (!out.add(n)) break;
      sent.push_back(n);
    }
    EXPECT_GE(sent.size(), 512u / 38);
    bool ok = false;
    EXPECT_EQ(read_all(out.bytes(), ok), sent);
    EXPECT_TRUE(ok);
  }
}

TEST(release_notices, units_of_one_interval_take_three_bytes_each) {
  std::array<std::byte, 512> room{};
  notice_writer out(room);
  ASSERT_TRUE(out.add(run(3, 100, 0, 1)));
  const std::size_t before = out.bytes().size();
  for (std::uint64_t i = 1; i <= 50; ++i) ASSERT_TRUE(out.add(run(3, 100, i * 7, 1)));
  EXPECT_EQ(out.bytes().size() - before, 150u);
}

TEST(release_notices, bytes_that_are_none_are_refused_and_read_no_further) {
  sim::random rng(2);
  unsigned refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::array<std::byte, 40> bytes{};
    for (std::byte& b : bytes) b = static_cast<std::byte>(rng.next() >> rng.below(8));
    bool ok = false;
    const auto all = read_all(std::span(bytes).first(rng.below(bytes.size() + 1)), ok);
    refused += ok ? 0 : 1;
    for (const notice& n : all) {
      EXPECT_LT(n.writer.value(), model::max_nodes);
      EXPECT_LT(n.home.value(), model::max_nodes);
      EXPECT_LE(n.count, max_notice_units);
    }
  }
  EXPECT_GT(refused, 10'000u);
}

TEST(release_notices, every_cut_but_one_between_records_is_noticed) {
  std::array<std::byte, 512> room{};
  notice_writer out(room);
  std::vector<std::size_t> ends{0};
  for (std::uint32_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(out.add(run(i, 1000 + i, i * 100'000, 300, true)));
    ends.push_back(out.bytes().size());
  }
  for (std::size_t cut = 0; cut <= out.bytes().size(); ++cut) {
    bool ok = false;
    (void)read_all(out.bytes().first(cut), ok);
    EXPECT_EQ(ok, std::find(ends.begin(), ends.end(), cut) != ends.end()) << cut;
  }
}

// ---- what is remembered

quire::base::fault_vector<written_unit> units(std::initializer_list<std::uint64_t> list) {
  quire::base::fault_vector<written_unit> all;
  for (const std::uint64_t u : list) all.push_back({region_id{}, u});
  return all;
}

/// All that `from` tells `to`, in one go.
std::size_t tell(history& from, unsigned self, history& to, unsigned other) {
  history::position at = from.told(node(other));
  std::size_t told = 0;
  for (const notice* n = from.next_for(node(other), at); n != nullptr; n = from.next_for(node(other), ++at), ++told) {
    (void)to.learn(*n, node(self));
  }
  from.set_told(node(other), from.end());
  return told;
}

TEST(release_history, an_interval_is_one_notice_for_each_run_of_units) {
  history h(node(0), 2);
  auto written = units({7, 3, 4, 5});
  h.add_interval(written);
  ASSERT_EQ(h.size(), 2u);
  EXPECT_EQ(h[0], run(0, 1, 3, 3));
  EXPECT_EQ(h[1], run(0, 1, 7, 1, true));
  EXPECT_EQ(h.known(node(0)), 1u);
  auto nothing = units({});
  h.add_interval(nothing);
  EXPECT_EQ(h.known(node(0)), 1u);
}

TEST(release_history, nobody_is_told_twice_nor_what_he_wrote_or_told) {
  history a(node(0), 3), b(node(1), 3), c(node(2), 3);
  auto w = units({1});
  a.add_interval(w);
  EXPECT_EQ(tell(a, 0, b, 1), 1u);
  EXPECT_EQ(tell(a, 0, b, 1), 0u);
  EXPECT_EQ(tell(b, 1, a, 0), 0u);
  EXPECT_EQ(tell(b, 1, c, 2), 1u);
  EXPECT_EQ(tell(c, 2, a, 0), 0u);
  EXPECT_EQ(tell(c, 2, b, 1), 0u);
  EXPECT_EQ(tell(a, 0, c, 2), 1u);
  EXPECT_EQ(c.size(), 1u) << "it was no news";
}

/// Seed 43 of 8 nodes: they went round and became more and more.
TEST(release_history, moved_homes_do_not_go_round_for_ever) {
  history h[3] = {{node(0), 3}, {node(1), 3}, {node(2), 3}};
  h[0].add_move(region_id{}, 4, node(0), 1);
  h[0].add_move(region_id{}, 5, node(0), 1);
  h[0].end_moves();
  EXPECT_EQ(h[0].size(), 1u) << "neighbours together";
  for (unsigned round = 0; round < 20; ++round) {
    for (unsigned i = 0; i < 3; ++i) tell(h[i], i, h[(i + 1) % 3], (i + 1) % 3);
    for (unsigned i = 0; i < 3; ++i) tell(h[i], i, h[(i + 2) % 3], (i + 2) % 3);
  }
  for (const history& one : h) EXPECT_EQ(one.size(), 1u);
}

TEST(release_history, half_an_interval_is_heard_again_from_others_until_its_end_is_known) {
  history h(node(2), 3);
  EXPECT_TRUE(h.learn(run(0, 1, 10, 1), node(1)));
  EXPECT_EQ(h.known(node(0)), 0u);
  EXPECT_TRUE(h.learn(run(0, 1, 10, 1), node(0)));
  EXPECT_TRUE(h.learn(run(0, 1, 20, 1, true), node(0)));
  EXPECT_EQ(h.known(node(0)), 1u);
  EXPECT_FALSE(h.learn(run(0, 1, 20, 1, true), node(1)));
}

TEST(release_history, packing_keeps_every_unit_of_every_writer_and_who_knows_all_is_told_nothing) {
  history a(node(0), 3, 8), b(node(1), 3), c(node(2), 3);
  for (std::uint64_t i = 0; i < 8; ++i) {
    auto w = units({i % 2 == 0 ? 100 : 200 + i});
    a.add_interval(w);
  }
  tell(a, 0, b, 1);
  EXPECT_EQ(a.packed(), 0u);
  auto w = units({7});
  a.add_interval(w);
  EXPECT_EQ(a.packed(), 1u);
  EXPECT_EQ(a.size(), 6u);  // 100, 201, 203, 205, 207, and 7
  EXPECT_EQ(tell(a, 0, b, 1), 1u);
  EXPECT_EQ(tell(a, 0, c, 2), 6u);
  EXPECT_EQ(c.known(node(0)), 9u);
}

/// Or content of a writer would pass for new that left before the interval ended of which a third node has told.
TEST(release_history, packing_forgets_who_told) {
  history h(node(1), 3, 2);
  EXPECT_TRUE(h.learn(run(0, 1, 5, 1, true), node(2)));
  EXPECT_TRUE(h.learn(run(0, 2, 7, 1, true), node(0)));
  EXPECT_EQ(h.source(0), node(2));
  EXPECT_TRUE(h.learn(run(0, 3, 9, 1, true), node(2)));  // packs first
  ASSERT_EQ(h.packed(), 1u);
  EXPECT_EQ(h.source(h.begin()), node(1));
  EXPECT_EQ(h.source(h.begin() + 1), node(1));
  EXPECT_EQ(h.source(h.begin() + 2), node(2));
}

TEST(release_history, intervals_that_are_not_complete_survive_packing_as_they_are) {
  history h(node(2), 3, 3);
  EXPECT_TRUE(h.learn(run(1, 1, 5, 1, true), node(1)));
  EXPECT_TRUE(h.learn(run(0, 4, 10, 1), node(0)));
  EXPECT_TRUE(h.learn(run(0, 4, 20, 1), node(0)));
  EXPECT_TRUE(h.learn(run(0, 4, 30, 1), node(0)));  // packs first
  EXPECT_EQ(h.packed(), 1u);
  EXPECT_TRUE(h.learn(run(0, 4, 40, 1, true), node(0)));
  history other(node(1), 3);
  EXPECT_EQ(tell(h, 2, other, 1), 4u);
  EXPECT_EQ(other.known(node(0)), 4u);
}

TEST(release_history, packing_forgets_moves_but_not_that_their_interval_has_ended) {
  history a(node(0), 2, 2), b(node(1), 2);
  for (std::uint16_t i = 1; i <= 3; ++i) {
    a.add_move(region_id{}, i * 10, node(0), i);
    a.end_moves();
  }
  EXPECT_GE(a.packed(), 1u);
  tell(a, 0, b, 1);
  EXPECT_EQ(b.known(node(0)), 3u);
}

TEST(release_history, what_all_know_is_forgotten_and_positions_go_on) {
  history h(node(0), 2);
  for (std::uint64_t i = 0; i < 4; ++i) {
    auto w = units({i});
    h.add_interval(w);
  }
  h.forget(3);
  EXPECT_EQ(h.begin(), 3u);
  EXPECT_EQ(h.end(), 4u);
  EXPECT_EQ(h[3], run(0, 4, 3, 1, true));
  h.forget(2);
  EXPECT_EQ(h.size(), 1u);
  history other(node(1), 2);
  EXPECT_EQ(tell(h, 0, other, 1), 1u);
  EXPECT_EQ(other.known(node(0)), 4u);
}

TEST(release_history, of_a_region_that_goes_only_the_ends_of_intervals_are_left) {
  history h(node(0), 3);
  const auto of = [](unsigned region, notice n) {
    n.region = region_id{static_cast<std::uint16_t>(region)};
    return n;
  };
  ASSERT_TRUE(h.learn(of(7, run(1, 1, 0, 4)), node(1)));
  ASSERT_TRUE(h.learn(of(8, run(1, 1, 2, 1)), node(1)));
  ASSERT_TRUE(h.learn(of(7, run(1, 1, 9, 1, true)), node(1)));
  h.forget_region(region_id{7});
  history::position at = 0;
  const notice* next = h.next_for(node(2), at);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->region, region_id{8});
  next = h.next_for(node(2), ++at);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->count, 0u);
  EXPECT_TRUE(next->last);
  EXPECT_EQ(h.next_for(node(2), ++at), nullptr);
  EXPECT_EQ(h.known(node(1)), 1u);
}

}  // namespace
}  // namespace quire::release::release_history_test
