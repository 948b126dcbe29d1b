// SPDX-License-Identifier: BSD-3-Clause
// Turns of transactions (protocol/transaction/owners/turns.hpp) on nodes whose messages arrive in any order that keeps
// that of each pair: two nodes never have a turn at once, nobody else takes units from others meanwhile, and everybody
// gets the turn that it has asked for.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "protocol/transaction/owners/turns.hpp"

namespace quire::transaction::owners::transaction_turns_test {
namespace {

using model::message;
using model::message_kind;
using model::node_id;

/// The network of some nodes, and what each of them is doing.
class nodes {
 public:
  explicit nodes(unsigned count) : count_(count), links_(count * std::size_t{count}) {
    for (unsigned n = 0; n < count; ++n) all_.emplace_back(n, count);
  }
  [[nodiscard]] unsigned count() const noexcept { return count_; }
  [[nodiscard]] turns& turn(unsigned n) { return all_[n].turn; }
  [[nodiscard]] bool takes(unsigned n) const { return all_[n].takes; }
  void ask(unsigned n) {
    feed(n, [](node& of) { of.turn.ask(of.asks); });
    ++asked;
  }
  void end(unsigned n) {
    feed(n, [](node& of) { of.turn.end(of.asks); });
    ++ended;
  }
  /// It takes units from others, or no longer.
  void take(unsigned n, bool whether) {
    all_[n].takes = whether;
    feed(n, [whether](node& of) {
      of.turn.on_taking(whether);
      of.turn.look(of.asks);
    });
  }
  /// The first message from one node to another, if there is any.
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
  /// Whether somebody expects the message there.
  bool hear(unsigned to, const message& m) {
    bool expected = false;
    feed(to, [&](node& of) { expected = of.turn.on_message(m, of.asks); });
    return expected;
  }
  [[nodiscard]] bool is_quiet() const {
    for (const auto& link : links_) {
      if (!link.empty()) return false;
    }
    return true;
  }
  void look() {
    for (unsigned n = 0; n < count_; ++n) {
      if (!turn(n).had()) continue;
      EXPECT_TRUE(turn(n).wanted() && !turn(n).paused());
      for (unsigned other = 0; other < count_; ++other) {
        if (other == n) continue;
        EXPECT_FALSE(turn(other).had()) << n << " and " << other << " have a turn at once";
        EXPECT_FALSE(takes(other)) << other << " takes units while " << n << " has its turn";
        EXPECT_TRUE(turn(other).paused()) << other << " may commit while " << n << " has its turn";
      }
    }
  }
  unsigned asked = 0, ended = 0;

 private:
  struct node {
    node(unsigned number, unsigned count) : turn(node_id{static_cast<std::uint16_t>(number)}, count) {}
    turns turn;
    agenda asks{};
    bool takes = false;
  };
  template <class Event>
  void feed(unsigned n, Event&& event) {
    event(all_[n]);
    while (const agenda::action* const a = all_[n].asks.next(0, [](agenda::step) {})) {
      EXPECT_EQ(a->what, agenda::action::kind::transmit) << "turns have no actions";
      EXPECT_EQ(a->m.from.value(), n);
      links_[n * count_ + a->to.value()].push_back(a->m);
    }
  }
  unsigned count_;
  std::vector<std::deque<message>> links_;
  std::deque<node> all_{};
};

/// Each node commits now and then, and now and then wants a turn for that.
void live(std::uint64_t seed, unsigned count) {
  std::mt19937_64 draw(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(draw() % n); };
  nodes all(count);
  unsigned steps = 400;
  for (; steps != 0 && !testing::Test::HasFailure(); --steps) {
    const unsigned n = below(count);
    if (below(2) == 0) {
      (void)all.deliver(n, below(count));
    } else if (all.takes(n)) {
      if (below(3) == 0) all.take(n, false);
    } else if (all.turn(n).had() && below(2) == 0) {
      all.end(n);
    } else if (!all.turn(n).wanted() && below(4) == 0) {
      all.ask(n);
    } else if (!all.turn(n).paused() && below(2) == 0) {
      all.take(n, true);
    }
    all.look();
  }
  // Now nobody begins anything, and all that was asked for comes.
  for (bool any = true; any && !testing::Test::HasFailure();) {
    any = false;
    for (unsigned n = 0; n < count; ++n) {
      if (all.takes(n)) all.take(n, false), any = true;
      if (all.turn(n).had()) all.end(n), any = true;
      for (unsigned to = 0; to < count; ++to) any |= all.deliver(n, to);
    }
  }
  EXPECT_EQ(all.asked, all.ended) << "somebody has not got its turn";
  for (unsigned n = 0; n < count; ++n)
    EXPECT_FALSE(all.turn(n).wanted() || all.turn(n).paused() || all.turn(n).busy()) << "node " << n;
  if (testing::Test::HasFailure()) FAIL() << "seed " << seed << ", " << count << " nodes";
}

TEST(transaction_turns, are_had_by_one_node_at_a_time_and_by_everybody_who_asks) {
  for (std::uint64_t seed = 1; seed <= 2'000 && !HasFailure(); ++seed) live(seed, 1 + static_cast<unsigned>(seed % 6));
}

TEST(transaction_turns, come_as_soon_as_others_take_no_units) {
  nodes all(3);
  all.take(2, true);
  all.ask(1);
  EXPECT_TRUE(all.deliver(1, 0));                       // turn_request
  EXPECT_TRUE(all.deliver(0, 0) && all.deliver(0, 0));  // pause, paused: node 0 itself
  EXPECT_TRUE(all.deliver(0, 2));                       // pause
  EXPECT_TRUE(all.is_quiet()) << "node 2 takes units: it answers later, and until then there is no turn";
  EXPECT_TRUE(all.turn(2).paused());
  all.take(2, false);
  EXPECT_TRUE(all.deliver(2, 0));  // paused
  EXPECT_TRUE(all.deliver(0, 1));  // turn_grant
  EXPECT_TRUE(all.turn(1).had());
  all.end(1);
  EXPECT_TRUE(all.deliver(1, 0));                       // turn_end
  EXPECT_TRUE(all.deliver(0, 0) && all.deliver(0, 2));  // resume
  EXPECT_FALSE(all.turn(0).paused() || all.turn(1).paused() || all.turn(2).paused());
  EXPECT_TRUE(all.is_quiet());
}

/// The one that has had it is paused before the next gets it.
TEST(transaction_turns, are_handed_on_in_the_order_of_requests) {
  nodes all(3);
  for (const unsigned n : {2u, 1u}) {
    all.ask(n);
    EXPECT_TRUE(all.deliver(n, 0));
  }
  std::vector<unsigned> order;
  for (unsigned steps = 0; order.size() != 2 && steps < 100; ++steps) {
    for (unsigned from = 0; from < 3; ++from) {
      for (unsigned to = 0; to < 3; ++to) (void)all.deliver(from, to);
    }
    for (unsigned n = 0; n < 3; ++n) {
      if (!all.turn(n).had()) continue;
      order.push_back(n);
      all.end(n);
    }
  }
  EXPECT_EQ(order, (std::vector<unsigned>{2, 1}));
}

TEST(transaction_turns, refuse_messages_that_nobody_sends) {
  nodes all(2);
  message m;
  m.from = m.requester = node_id{1};
  m.kind = message_kind::paused;
  EXPECT_FALSE(all.hear(0, m)) << "nobody was paused";
  m.kind = message_kind::turn_end;
  EXPECT_FALSE(all.hear(0, m)) << "nobody has a turn";
  m.kind = message_kind::turn_request;
  EXPECT_FALSE(all.hear(1, m)) << "node 0 gives turns";
  m.kind = message_kind::turn_grant;
  EXPECT_FALSE(all.hear(0, m)) << "a grant of another than node 0";
}

}  // namespace
}  // namespace quire::transaction::owners::transaction_turns_test
