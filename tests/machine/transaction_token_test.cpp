// SPDX-License-Identifier: BSD-3-Clause
// The token of commits (protocol/transaction/token), without a core: who gets it when; in which order write sets are
// applied; which messages wait for them.
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

#include "protocol/transaction/protocol.hpp"
#include "protocol/transaction/token/domain.hpp"
#include "protocol/transaction/token/machine.hpp"

namespace quire::transaction::token::transaction_token_test {
namespace {

using model::message;
using model::message_kind;

node_id node(unsigned n) { return node_id{static_cast<std::uint16_t>(n)}; }

// ---- The token

class circle {
 public:
  explicit circle(unsigned count) : count_(count), links_(count * std::size_t{count}) {
    for (unsigned n = 0; n < count; ++n) all_.emplace_back(n);
  }
  [[nodiscard]] passing& at(unsigned n) { return all_[n].token; }
  void ask(unsigned n) {
    feed(n, [](member& of) { of.token.ask(of.asks); });
  }
  void end(unsigned n) {
    feed(n, [](member& of) { of.token.end(of.asks); });
  }
  /// Whether somebody expects the message there.
  bool hear(unsigned to, const message& m) {
    bool expected = false;
    feed(to, [&](member& of) { expected = of.token.on_message(m, of.asks); });
    return expected;
  }
  bool deliver(unsigned from, unsigned to) {
    auto& link = links_[from * count_ + to];
    if (link.empty()) return false;
    const message m = link.front();
    link.pop_front();
    EXPECT_TRUE(hear(to, m)) << "nobody expects message " << static_cast<int>(m.kind) << " from " << from << " at "
                             << to;
    look();
    return true;
  }
  /// There is one token.
  void look() {
    unsigned tokens = 0;
    for (unsigned n = 0; n < count_; ++n) {
      tokens += at(n).holds() ? 1 : 0;
      EXPECT_TRUE(at(n).is_valid()) << "node " << n;
    }
    for (const auto& link : links_) {
      for (const message& m : link) tokens += m.kind == message_kind::token ? 1 : 0;
    }
    EXPECT_EQ(tokens, 1u);
  }
  std::uint64_t sent = 0;

 private:
  struct member {
    explicit member(unsigned n) : token(node(n)) {}
    passing token;
    agenda asks{};
  };
  template <class Event>
  void feed(unsigned n, Event&& event) {
    event(all_[n]);
    while (const agenda::action* const a = all_[n].asks.next(0, [](agenda::step) {})) {
      EXPECT_EQ(a->what, agenda::action::kind::transmit) << "it has no actions";
      EXPECT_EQ(a->m.from.value(), n);
      ++sent;
      links_[n * count_ + a->to.value()].push_back(a->m);
    }
  }
  unsigned count_;
  std::vector<std::deque<message>> links_;
  std::deque<member> all_{};
};

/// Nodes want the token now and then, use it for a while when they have it, or give up before it has come.
void pass_around(std::uint64_t seed, unsigned count) {
  std::mt19937_64 draw(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(draw() % n); };
  circle all(count);
  std::vector<bool> wants(count);
  std::uint64_t commits = 0;
  const auto use = [&](unsigned n) {
    EXPECT_EQ(all.at(n).number(), commits) << "the token has forgotten a commit";
    all.at(n).count_commit();
    ++commits;
    wants[n] = false;
    all.end(n);
  };
  for (unsigned steps = 400; steps != 0 && !testing::Test::HasFailure(); --steps) {
    const unsigned n = below(count);
    if (below(2) == 0) {
      (void)all.deliver(n, below(count));
    } else if (!wants[n]) {
      if (below(3) == 0) all.ask(n), wants[n] = true;
    } else if (all.at(n).holds()) {
      if (below(2) == 0) use(n);
    } else if (below(10) == 0) {
      wants[n] = false;
      all.end(n);
    }
    all.look();
  }
  for (bool any = true; any && !testing::Test::HasFailure();) {
    any = false;
    for (unsigned n = 0; n < count; ++n) {
      if (wants[n] && all.at(n).holds()) use(n), any = true;
      for (unsigned to = 0; to < count; ++to) any |= all.deliver(n, to);
    }
  }
  for (unsigned n = 0; n < count; ++n)
    EXPECT_FALSE(wants[n] || all.at(n).busy()) << "node " << n << " has not got the token";
  if (testing::Test::HasFailure()) FAIL() << "seed " << seed << ", " << count << " nodes";
}

TEST(transaction_token, comes_to_all_that_want_it) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) pass_around(seed, 1 + static_cast<unsigned>(seed % 6));
}

TEST(transaction_token, stays_where_it_was_used) {
  circle all(3);
  for (unsigned i = 0; i < 5; ++i) all.ask(0), all.end(0);
  EXPECT_EQ(all.sent, 0u) << "who has it needs no message";
  all.ask(2);
  EXPECT_TRUE(all.deliver(2, 0));  // token_request
  EXPECT_TRUE(all.deliver(0, 0));  // token_next, to itself
  EXPECT_TRUE(all.deliver(0, 2));  // token
  EXPECT_TRUE(all.at(2).holds());
  all.end(2);
  EXPECT_TRUE(all.at(2).holds());
  EXPECT_EQ(all.sent, 3u);
}

TEST(transaction_token, is_given_to_nobody_out_of_turn) {
  circle all(2);
  message m;
  m.from = node(1);
  m.kind = message_kind::token;
  EXPECT_FALSE(all.hear(0, m)) << "a second token";
  m.kind = message_kind::token_next;
  m.requester = node(1);
  EXPECT_FALSE(all.hear(0, m)) << "of another than node 0";
  m.kind = message_kind::token_request;
  EXPECT_FALSE(all.hear(1, m)) << "to another than node 0";
}

// ---- Write sets, and what waits for them

written_run run_of(std::uint64_t first, std::uint32_t count) {
  written_run r;
  r.first = first;
  r.count = count;
  return r;
}

bool hear(write_sets& all, unsigned from, commit_number number, const std::vector<written_run>& runs, bool last,
          commit_number applied = 0) {
  message m;
  m.kind = message_kind::write_set;
  m.from = node(from);
  m.a = number;
  m.b = last ? 1 : 0;
  return all.on_part(m, std::as_bytes(std::span(runs)), applied);
}

TEST(transaction_token, takes_write_sets_when_they_are_whole) {
  write_sets all;
  write_set one;
  EXPECT_TRUE(hear(all, 2, 2, {run_of(5, 1)}, true));
  EXPECT_TRUE(hear(all, 1, 1, {run_of(7, 2)}, false));
  EXPECT_FALSE(all.take(1, one)) << "a part is missing";
  EXPECT_TRUE(hear(all, 1, 1, {run_of(9, 1)}, true));
  ASSERT_TRUE(all.take(1, one));
  EXPECT_EQ(one.by, node(1));
  EXPECT_EQ(one.runs, (written_runs{run_of(7, 2), run_of(9, 1)}));
  EXPECT_TRUE(all.take(2, one));
  EXPECT_TRUE(all.empty());
  EXPECT_FALSE(hear(all, 1, 1, {run_of(7, 2)}, true, 2)) << "of a commit that is applied";
  EXPECT_FALSE(hear(all, 1, 3, {run_of(7, 0)}, true)) << "of no units";
  EXPECT_FALSE(hear(all, 2, 3, {run_of(7, 1)}, true)) << "of another node";
}

TEST(transaction_token, makes_runs_of_units) {
  written_runs runs;
  for (const std::uint64_t unit : {3, 4, 5, 7}) add(runs, {model::region_id{1}, unit}, 6);
  add(runs, {model::region_id{2}, 8}, 6);
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].count, 3u);
  EXPECT_EQ(runs[1].first, 7u);
  EXPECT_EQ(runs[2].region, 2u);
}

TEST(transaction_token, keeps_messages_until_what_they_tell_is_applied) {
  arrivals all(3);
  message m;
  m.from = node(1);
  m.kind = message_kind::sync_first;
  EXPECT_FALSE(all.keeps_back(m, {}, 4));
  all.on_told(node(1), 6);
  const std::byte value[2] = {std::byte{1}, std::byte{2}};
  EXPECT_TRUE(all.keeps_back(m, value, 4));
  m.unit = 1;
  EXPECT_TRUE(all.keeps_back(m, {}, 4));
  m.from = node(2);
  EXPECT_FALSE(all.keeps_back(m, {}, 4)) << "of a node that has told nothing";
  all.on_told(node(1), 8);  // by what it sends later
  arrivals::kept out;
  EXPECT_FALSE(all.take(5, out));
  ASSERT_TRUE(all.take(6, out));
  EXPECT_EQ(out.m.unit, 0u);
  EXPECT_EQ(out.value.size(), 2u);
  EXPECT_FALSE(all.take(6, out)) << "somebody hears the one before";
  all.on_heard(node(1));
  ASSERT_TRUE(all.take(6, out));
  EXPECT_EQ(out.m.unit, 1u);
  EXPECT_EQ(out.value.size(), 0u);
  m.from = node(1);
  m.unit = 2;
  EXPECT_TRUE(all.keeps_back(m, {}, 8)) << "it is not before one that is being heard";
  all.on_heard(node(1));
  EXPECT_TRUE(all.take(8, out));
  EXPECT_EQ(all.waiting(), 0u);
}

}  // namespace
}  // namespace quire::transaction::token::transaction_token_test
