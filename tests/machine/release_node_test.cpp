// SPDX-License-Identifier: BSD-3-Clause
// What all regions of a node share: when a message that releases may leave.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/release/node.hpp"

namespace quire::release {
namespace {

using model::message_kind;
using model::region_id;

/// A node that is not the home of unit 1, with what leaves it.
struct writer final : node::effects {
  explicit writer(unsigned nodes) : self(node_id{0}, nodes, *this, 16) {
    shape.region = region_id{0};
    shape.nodes = model::geometry::of(nodes);
    shape.managers = directory::manager_map::make(model::placement::modulo, nodes, units.size(), {});
    shape.units = units.size();
    m = std::make_unique<machine>(shape, units.data(), self.open());
  }
  void transmit(node_id to, const message& sent, std::span<const std::byte>) noexcept override {
    left.push_back(std::string(sent.kind == message_kind::notices ? "notices" : "message") + " to " + std::to_string(to.value()));
  }
  void perform(region_id, const actions& list) noexcept override {
    for (const auto& a : list) {
      if (a.kind != model::action_kind::send_diff) continue;
      diffs.push_back(a.to);
      left.push_back("diff to " + std::to_string(a.to.value()) + (self.unhurried() ? ", unhurried" : ""));
    }
  }
  /// As in the engine: what is sent is known when all actions are performed.
  void perform_all() noexcept override {
    for (const node_id to : std::exchange(diffs, {})) (void)self.diff_sent(to);
  }
  [[nodiscard]] std::uint32_t life_of(region_id) noexcept override { return life; }
  [[nodiscard]] machine* machine_of(region_id) noexcept override { return m.get(); }

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
  void send(unsigned to, edge what) { self.send(node_id{static_cast<std::uint16_t>(to)}, {}, {}, what); }

  std::uint32_t life = 0;
  std::vector<std::string> left{};
  std::vector<node_id> diffs{};
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
  w.self.on_acknowledged(node_id{1}, 1);
  EXPECT_EQ(w.left, (strings{"diff to 1", "notices to 2", "message to 2"}));
}

TEST(release_node, of_two_nodes_none_waits) {
  writer w(2);
  w.write();
  w.send(1, edge::releases);
  EXPECT_EQ(w.left, (strings{"diff to 1, unhurried", "notices to 1", "message to 1"}));
  EXPECT_TRUE(w.self.busy()) << "homes do not move before";
  w.self.on_acknowledged(node_id{1}, 1);
  EXPECT_FALSE(w.self.busy());
}

TEST(release_node, who_joins_a_call_has_released_when_it_began) {
  writer w(3);
  w.write();
  w.self.release_ahead();
  w.send(2, edge::joins);
  EXPECT_EQ(w.left, (strings{"diff to 1"})) << "and waits for that";
  w.self.on_acknowledged(node_id{1}, 1);
  w.left.clear();
  w.write();
  w.send(2, edge::joins);
  EXPECT_EQ(w.left, (strings{"message to 2"})) << "but not for what is written later";
}

/// The notice takes a copy that has been changed: the diff goes to where the home was, and the next request must not overtake it.
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
  w.self.acquire();
  EXPECT_EQ(w.left, (strings{"diff to 1"}));
  EXPECT_EQ(w.m->home_of(1), node_id{1});
}

TEST(release_node, diffs_that_are_waited_for_are_urgent) {
  writer w(2);
  w.write();
  w.self.release();
  EXPECT_EQ(w.left, (strings{"diff to 1"}));
}

/// A node that a region has not left yet may tell of it when another region has its number here.
TEST(release_node, of_another_life_of_a_region_nothing_is_heard_but_that_an_interval_ended) {
  writer w(4);
  w.write();
  w.life = 2;
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
    w.self.acquire();
    EXPECT_EQ(w.self.known().known(node_id{2}), told);
    EXPECT_EQ(w.left, told == 1 ? strings{} : (strings{"diff to 1"})) << "life " << told;
  }
}

}  // namespace
}  // namespace quire::release
