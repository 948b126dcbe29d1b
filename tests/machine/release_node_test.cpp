// SPDX-License-Identifier: BSD-3-Clause
// What all regions of a node share: when a message that releases may leave.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/release/node.hpp"

namespace quire::release::release_node_test {
namespace {

using model::message_kind;
using model::region_id;
using action = protocol::domain_action;

/// A node that is not the home of unit 1, with what leaves it.
struct writer {
  explicit writer(unsigned nodes) : self(node_id{0}, nodes, 16) {
    shape.region = region_id{0};
    shape.nodes = model::geometry::of(nodes);
    shape.managers = directory::manager_map::make(model::placement::modulo, nodes, units.size(), {});
    shape.units = units.size();
    m = std::make_unique<machine>(shape, units.data(), self.open());
    self.on_region(region_id{0}, *m, 0);
  }
  /// Tells the node of an event, and does what it asks for.
  template <class Event>
  void feed(Event&& event) {
    protocol::feed(self, event, [this](const action& a) { perform(a); });
  }
  void perform(const action& a) {
    const std::string to = std::to_string(a.to.value());
    if (a.what == action::kind::transmit && meanwhile) std::exchange(meanwhile, {})();
    switch (a.what) {
      case action::kind::transmit:
        left.push_back((a.m.kind == message_kind::notices ? "notices to " : "message to ") + to);
        break;
      case action::kind::perform:
        return perform(*a.list);
      case action::kind::perform_all:  // as in the engine: what is sent is known when all actions are performed
        for (const diff& d : std::exchange(diffs, {})) (void)self.diff_sent(d.to, d.unhurried);
        break;
      case action::kind::hear:
        left.push_back(std::to_string(a.m.token) + " is heard");
        break;
      case action::kind::compare:
        self.on_compared(false);
        break;
      default:
        break;
    }
  }
  void perform(const actions& list) {
    for (const auto& a : list) {
      if (a.kind != model::action_kind::send_diff) continue;
      const bool unhurried = (a.m.flags & model::message_flag::unhurried) != 0;
      diffs.push_back({a.to, unhurried});
      left.push_back("diff to " + std::to_string(a.to.value()) + (unhurried ? ", unhurried" : ""));
    }
  }
  void acknowledged(unsigned of, std::uint32_t count, unsigned group = node::any_group) {
    feed([&](node& n) { n.on_acknowledged(node_id{static_cast<std::uint16_t>(of)}, count, group); });
  }
  void acquire() {
    feed([](node& n) { n.acquire(); });
  }

  /// A thread writes unit 1, whose home is node 1.
  void write() {
    actions out;
    (void)m->on_fault(1, model::access::write, out);
    message reply;
    reply.kind = message_kind::copy_reply;
    reply.unit = 1;
    reply.from = node_id{1};
    reply.requester = node_id{0};
    m->on_message(reply, out);
  }
  void send(unsigned to, edge what) {
    feed([&](node& n) { n.send(node_id{static_cast<std::uint16_t>(to)}, {}, {}, what); });
  }

  struct diff {
    node_id to{};
    bool unhurried = false;
  };
  std::vector<std::string> left{};
  std::vector<diff> diffs{};
  std::function<void()> meanwhile{};  ///< an event that comes when a message is about to be transmitted, once
  std::vector<unit_state> units = std::vector<unit_state>(4);
  region_shape shape{};
  node self;
  std::unique_ptr<machine> m{};
};
using strings = std::vector<std::string>;

TEST(release_node, a_message_that_releases_waits_for_the_diffs) {
  writer w(3);
  w.write();
  w.send(2, edge::releases);
  EXPECT_EQ(w.left, (strings{"diff to 1"}));
  w.acknowledged(1, 1);
  EXPECT_EQ(w.left, (strings{"diff to 1", "notices to 2", "message to 2"}));
}

/// Whatever the home is asked comes behind the diff.
TEST(release_node, a_message_to_the_home_of_all_that_was_written_does_not_wait) {
  for (const unsigned nodes : {2, 3}) {
    writer w(nodes);
    w.write();
    w.send(1, edge::releases);
    EXPECT_EQ(w.left, (strings{"diff to 1, unhurried", "notices to 1", "message to 1"}));
    EXPECT_TRUE(w.self.busy()) << "homes do not move before";
    w.acknowledged(1, 1);
    EXPECT_FALSE(w.self.busy());
  }
}

TEST(release_node, nobody_else_is_told_before_the_diffs_have_arrived) {
  for (const edge what : {edge::carries, edge::joins, edge::releases}) {
    writer w(3);
    w.write();
    w.send(1, edge::releases);
    w.left.clear();
    w.send(2, what);
    EXPECT_EQ(w.left, (strings{"notices to 1"})) << "the home is to hurry";
    w.send(1, edge::none);
    EXPECT_EQ(w.left, (strings{"notices to 1"})) << "nothing overtakes what waits";
    w.acknowledged(1, 1);
    EXPECT_EQ(w.left, (strings{"notices to 1", "notices to 2", "message to 2", "message to 1"}));
  }
}

TEST(release_node, a_message_that_says_nothing_of_memory_does_not_wait) {
  writer w(3);
  w.write();
  w.send(1, edge::releases);
  w.left.clear();
  w.send(2, edge::none);
  EXPECT_EQ(w.left, (strings{"message to 2"}));
}

TEST(release_node, what_follows_from_a_release_to_the_node_itself_waits) {
  writer w(3);
  w.write();
  w.send(0, edge::releases);
  EXPECT_EQ(w.left, (strings{"diff to 1", "message to 0"}));
  w.left.clear();
  w.send(2, edge::carries);
  EXPECT_EQ(w.left, strings{});
  w.acknowledged(1, 1);
  EXPECT_EQ(w.left, (strings{"notices to 2", "message to 2"}));
}

TEST(release_node, what_follows_from_a_release_to_the_node_itself_may_go_to_the_home) {
  writer w(3);
  w.write();
  w.send(0, edge::releases);
  w.left.clear();
  w.send(1, edge::carries);
  EXPECT_EQ(w.left, (strings{"notices to 1", "message to 1"}));
}

/// Its writer counts on it that this node has the diff before what comes behind it.
TEST(release_node, what_comes_behind_a_diff_that_is_passed_on_is_kept_back) {
  writer w(3);
  const auto comes = [&w](unsigned from, std::uint64_t token) {
    message m;
    m.from = node_id{static_cast<std::uint16_t>(from)};
    m.token = token;
    return w.self.keeps_back(m, {});
  };
  const auto passes = [&w](unsigned from) {
    ++w.self.open().passing;
    return w.self.arrivals().diff_passed(node_id{static_cast<std::uint16_t>(from)});
  };
  EXPECT_FALSE(comes(1, 1));
  const unsigned first = passes(1);
  EXPECT_TRUE(comes(1, 2));
  EXPECT_FALSE(comes(2, 3)) << "that node has sent no diff";
  const unsigned later = passes(1);
  EXPECT_TRUE(comes(1, 4));
  w.feed([&](node& n) { n.arrivals().on_passed(node_id{1}, 1, first); });
  EXPECT_EQ(w.left, (strings{"2 is heard"})) << "and does not wait for what came behind it";
  w.feed([&](node& n) { n.arrivals().on_passed(node_id{1}, 1, later); });
  EXPECT_EQ(w.left, (strings{"2 is heard", "4 is heard"}));
  EXPECT_FALSE(comes(1, 5));
}

TEST(release_node, this_node_itself_waits_for_no_diff_that_it_passes_on) {
  writer w(3);
  ++w.self.open().passing;
  (void)w.self.arrivals().diff_passed(node_id{1});
  w.send(2, edge::carries);
  EXPECT_EQ(w.left, (strings{"message to 2"}));
}

TEST(release_node, a_diff_that_leaves_later_is_not_waited_for) {
  writer w(3);
  w.write();
  w.send(2, edge::releases);  // waits for the first
  const unsigned later = w.self.diff_sent(node_id{1}, false);
  w.left.clear();
  w.acknowledged(1, 1, 1 - later);
  EXPECT_EQ(w.left, (strings{"notices to 2", "message to 2"}));
  EXPECT_TRUE(w.self.busy());
}

/// What a message tells may make its node send more: that is younger.
TEST(release_node, what_comes_while_a_message_leaves_waits_behind_it) {
  writer w(3);
  w.write();
  w.meanwhile = [&w] { w.send(2, edge::none); };
  w.send(1, edge::releases);
  EXPECT_EQ(w.left, (strings{"diff to 1, unhurried", "notices to 1" /* is to hurry */, "notices to 1", "message to 1",
                             "message to 2"}));
  EXPECT_EQ(w.self.under_way(), 0u);
}

/// A call is over when it returns, whatever it has come into.
TEST(release_node, an_event_that_comes_half_way_is_done_first) {
  writer w(4);
  w.write();
  history theirs(node_id{2}, 4);
  quire::base::fault_vector<written_unit> units{{region_id{0}, 1}};
  theirs.add_interval(units);
  std::array<std::byte, 256> room;
  notice_writer out(room);
  history::position at = theirs.begin();
  ASSERT_TRUE(out.add(*theirs.next_for(node_id{0}, at)));
  ASSERT_TRUE(w.self.on_notices(node_id{2}, out.bytes()));
  w.meanwhile = [&w] {
    const std::size_t before = w.self.under_way();
    EXPECT_NE(before, 0u);
    w.acquire();
    EXPECT_EQ(w.self.under_way(), before);
    EXPECT_EQ(w.left, (strings{"diff to 1"})) << "the copy has gone, and its changes have left";
    EXPECT_EQ(w.self.known().applied(), w.self.known().end());
  };
  w.send(3, edge::carries);
  EXPECT_EQ(w.self.under_way(), 0u);
  EXPECT_EQ(w.left.back(), "message to 3");
}

TEST(release_node, groups_of_diffs) {
  diff_groups g(3);
  const node_id a{1}, b{2};
  EXPECT_EQ(g.settled(), 1u);
  const unsigned first = g.sent(a);
  EXPECT_EQ(g.settled(), 0u);
  EXPECT_TRUE(g.lead_only_to(a, 1));
  EXPECT_FALSE(g.lead_only_to(b, 1));
  EXPECT_TRUE(g.lead_only_to(b, 0));
  g.turn();
  EXPECT_FALSE(g.may_turn());
  EXPECT_NE(g.sent(b), first);
  EXPECT_TRUE(g.lead_only_to(a, 1));
  EXPECT_FALSE(g.lead_only_to(a, 2));
  EXPECT_FALSE(g.lead_only_to(b, 2));
  g.arrived(a, 1, first);
  EXPECT_EQ(g.settled(), 1u);
  EXPECT_TRUE(g.lead_only_to(b, 2));
  EXPECT_TRUE(g.may_turn());
  g.arrived(b, 1, diff_groups::any);
  EXPECT_EQ(g.settled(), 2u);
  EXPECT_FALSE(g.any_to(a) || g.any_to(b));
}

TEST(release_node, who_joins_a_call_has_released_when_it_began) {
  writer w(3);
  w.write();
  w.feed([](node& n) { n.release_ahead(node_id{2}); });
  w.send(2, edge::joins);
  EXPECT_EQ(w.left, (strings{"diff to 1"})) << "and waits for that";
  w.acknowledged(1, 1);
  w.left.clear();
  w.write();
  w.send(2, edge::joins);
  EXPECT_EQ(w.left, (strings{"message to 2"})) << "but not for what is written later";
}

/// The notice takes a copy that has been changed: the diff goes to where the home was, and the next request must not
/// overtake it.
TEST(release_node, a_move_is_believed_only_if_the_same_acquire_sends_no_diffs) {
  writer w(4);
  w.write();
  history theirs(node_id{2}, 4);
  quire::base::fault_vector<written_unit> units{{region_id{0}, 1}};
  theirs.add_interval(units);
  theirs.add_move(region_id{0}, 1, node_id{2}, 1);
  theirs.end_moves();
  std::array<std::byte, 256> room;
  notice_writer out(room);
  history::position at = theirs.begin();
  while (const notice* n = theirs.next_for(node_id{0}, at)) {
    ASSERT_TRUE(out.add(*n));
    ++at;
  }
  ASSERT_TRUE(w.self.on_notices(node_id{2}, out.bytes()));
  w.acquire();
  EXPECT_EQ(w.left, (strings{"diff to 1"}));
  EXPECT_EQ(w.m->home_of(1), node_id{1});
}

TEST(release_node, diffs_that_are_waited_for_are_urgent) {
  writer w(2);
  w.write();
  w.feed([](node& n) { n.release(); });
  EXPECT_EQ(w.left, (strings{"diff to 1"}));
}

/// A node that a region has not left yet may tell of it when another region has its number here.
TEST(release_node, of_another_life_of_a_region_nothing_is_heard_but_that_an_interval_ended) {
  writer w(4);
  w.write();
  w.self.on_region(region_id{0}, *w.m, 2);
  history theirs(node_id{2}, 4);
  history::position at = theirs.begin();
  for (const std::uint32_t told : {1u, 2u}) {
    quire::base::fault_vector<written_unit> units{{region_id{0}, 1}};
    theirs.add_interval(units);
    std::array<std::byte, 256> room;
    notice_writer out(room);
    const notice* const next = theirs.next_for(node_id{0}, at);
    ASSERT_NE(next, nullptr);
    notice n = *next;
    n.life = told;
    ASSERT_TRUE(out.add(n));
    ++at;
    ASSERT_TRUE(w.self.on_notices(node_id{2}, out.bytes()));
    w.acquire();
    EXPECT_EQ(w.self.known().known(node_id{2}), told);
    EXPECT_EQ(w.left, told == 1 ? strings{} : (strings{"diff to 1"})) << "life " << told;
  }
}

}  // namespace
}  // namespace quire::release::release_node_test
