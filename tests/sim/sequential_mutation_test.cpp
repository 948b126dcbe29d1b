// SPDX-License-Identifier: BSD-3-Clause
// Do the checkers see? Each test breaks the sequential protocol in one way, by changing what a machine asks for before
// it is performed, and expects the breakage to be noticed for what it is, in some order of a small program.
// whole_mutation_test does the same with whole nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "explore.hpp"

namespace quire::sim::sequential_mutation_test {
namespace {

using model::action;
using model::action_kind;
using model::actions;
using model::message_kind;
using testing::AnyOf;
using testing::HasSubstr;

bool is_reply(const message& m) {
  return m.kind == message_kind::read_reply || m.kind == message_kind::write_reply ||
         m.kind == message_kind::write_grant || m.kind == message_kind::atomic_reply;
}
bool is_settled(const message& m) { return (m.flags & model::message_flag::settled) != 0; }
bool is_request(const action& a) { return a.kind == action_kind::send && a.m.kind <= message_kind::push_request; }

constexpr node_id n0{0}, n1{1}, n2{2};
constexpr operation pin{operation_kind::pin, 0}, unpin{operation_kind::unpin, 0}, add{operation_kind::add, 0, 0, 1};

const std::vector<script> two_readers_and_a_writer{{n0, {get(0)}}, {n1, {get(0)}}, {n2, {set(0, 1), get(0)}}};
const std::vector<script> writers{{n0, {set(0, 1)}}, {n1, {get(0), set(0, 2)}}, {n2, {get(0), set(0, 3)}}};
const std::vector<script> pinners{{n0, {pin, get(0), unpin}}, {n1, {pin, set(0, 1), unpin}}, {n2, {get(0), add}}};

/// Ends the process with a verdict: for breakages that end it anyhow if a machine's CHECK notices them first.
[[noreturn]] void die_of(const std::string& what) {
  std::fputs(what.c_str(), stderr);
  std::abort();
}

TEST(sequential_mutation, the_unbroken_protocol_passes) {
  for (const auto& program : {two_readers_and_a_writer, writers, pinners}) EXPECT_EQ(verdict(plain(), program, {}), "");
}

TEST(sequential_mutation, invalidation_that_leaves_the_view) {
  EXPECT_THAT(verdict(plain(), two_readers_and_a_writer,
                      [](cluster&, node_id, const message* m, actions& out) {
                        if (is(m, message_kind::invalidate))
                          drop(out, [](const action& a) { return a.kind == action_kind::protect; });
                      }),
              HasSubstr("the machine is wrong about its view"));
}

TEST(sequential_mutation, invalidation_that_is_never_sent) {
  EXPECT_THAT(
      verdict(plain(), two_readers_and_a_writer,
              [](cluster&, node_id, const message* m, actions& out) {
                if (!is(m, message_kind::write_request) && !is(m, message_kind::done)) return;
                actions changed;
                for (const action& a : out) {
                  if (a.kind != action_kind::multicast || a.m.kind != message_kind::invalidate || a.m.operation != 0) {
                    changed.add(a.kind, a.unit) = a;
                    continue;
                  }
                  a.targets.for_each([&](node_id) {
                    action& ack = changed.add(action_kind::send, a.unit);
                    ack.m = a.m;
                    ack.m.kind = message_kind::invalidate_ack;
                    ack.to = a.m.requester;
                  });
                }
                out = changed;
              }),
      HasSubstr("one node may write while others may read"));
}

TEST(sequential_mutation, content_sent_before_the_view_is_lowered) {
  EXPECT_THAT(verdict(plain(), writers,
                      [](cluster&, node_id, const message* m, actions& out) {
                        if (!is(m, message_kind::fetch_write) || out.size() != 2) return;
                        const action first = out[0], second = out[1];
                        out.clear();
                        out.add(second.kind, second.unit) = second;
                        out.add(first.kind, first.unit) = first;
                      }),
              HasSubstr("content is sent while threads may still write"));
}

TEST(sequential_mutation, owner_that_stays_writable_after_a_read) {
  EXPECT_THAT(verdict(plain(), writers,
                      [](cluster&, node_id, const message* m, actions& out) {
                        if (is(m, message_kind::fetch_read))
                          drop(out, [](const action& a) { return a.kind == action_kind::protect; });
                      }),
              HasSubstr("content is sent while threads may still write"));
}

TEST(sequential_mutation, permission_to_write_before_the_acknowledgements) {
  // Acknowledgements that come before the grant, or when nothing waits for them any more, end the process: that too is
  // noticed.
  EXPECT_DEATH(die_of(verdict(plain(), writers,
                              [](cluster&, node_id, const message*, actions& out) {
                                change(out, [](action& a) {
                                  if (a.m.kind == message_kind::write_grant || a.m.kind == message_kind::fetch_write)
                                    a.m.acks = 0;
                                });
                              })),
               "one node may write while others may read|"
               "broken belief: s.(acks_got == s.acks_expected|pending.. == access::write)");
}

TEST(sequential_mutation, copyset_that_forgets_the_reader) {
  const cluster::tampering broken = [](cluster& x, node_id, const message* m, actions&) {
    if (!is(m, message_kind::read_request)) return;
    auto& e = x.entry(m->unit);
    e.copies = model::copyset::of(model::geometry::of(x.options().nodes), e.owner);
  };
  // Even if nobody ever writes.
  EXPECT_THAT(verdict(plain(), {{n1, {get(0)}}}, broken), HasSubstr("a node with a copy is not in the copyset"));
  EXPECT_THAT(verdict(plain(), two_readers_and_a_writer, broken),
              AnyOf(HasSubstr("one node may write while others may read"),
                    HasSubstr("a node with a copy is not in the copyset")));
}

TEST(sequential_mutation, copyset_that_forgets_the_owner) {
  EXPECT_THAT(
      verdict(plain(), writers,
              [](cluster& x, node_id node, const message* m, actions&) {
                if (!is(m, message_kind::done) || x.manager_of(m->unit) != node || !x.entry(m->unit).requests.empty())
                  return;
                x.entry(m->unit).copies.clear();
              }),
      HasSubstr("the machine's state is not valid"));
}

TEST(sequential_mutation, wake_that_is_lost) {
  EXPECT_THAT(verdict(plain(), writers,
                      [](cluster&, node_id, const message* m, actions& out) {
                        if (is(m, message_kind::read_reply))
                          drop(out, [](const action& a) { return a.kind == action_kind::wake; });
                      }),
              HasSubstr("lost wake-up: thread"));
}

TEST(sequential_mutation, done_that_is_lost) {
  EXPECT_THAT(verdict(plain(), writers,
                      [](cluster&, node_id, const message*, actions& out) {
                        drop(out, [](const action& a) {
                          return a.kind == action_kind::send && a.m.kind == message_kind::done;
                        });
                      }),
              AnyOf(HasSubstr("lost wake-up: thread"), HasSubstr("requests are left in a queue")));
}

TEST(sequential_mutation, content_that_is_called_zero) {
  EXPECT_THAT(verdict(plain(), writers,
                      [](cluster&, node_id, const message*, actions& out) {
                        change(out, [](action& a) {
                          if (!a.with_content) return;
                          a.with_content = false;
                          a.m.flags |= model::message_flag::zero;
                        });
                      }),
              AnyOf(HasSubstr("a read does not return the last write"), HasSubstr("a copy differs from the owner's"),
                    HasSubstr("works on an old value")));
}

TEST(sequential_mutation, reader_that_may_write) {
  EXPECT_THAT(verdict(plain(), writers,
                      [](cluster&, node_id, const message* m, actions& out) {
                        if (!is(m, message_kind::read_reply)) return;
                        change(out, [](action& a) {
                          if (a.kind == action_kind::permit) a.level = access::write;
                        });
                      }),
              AnyOf(HasSubstr("may write"), HasSubstr("the machine is wrong about its view")));
}

TEST(sequential_mutation, manager_that_does_not_wait_for_done) {
  // The next order can then overtake the copy that it is about, which comes from a third node: found by trying all
  // orders, not by luck.
  const std::vector<script> program{{n0, {set(0, 1)}}, {n1, {get(0)}}, {n2, {set(0, 2)}}};
  const std::string said = verdict(plain(), program, [](cluster&, node_id, const message* m, actions& out) {
    if (is(m, message_kind::read_reply)) drop(out, [](const action& a) { return a.m.kind == message_kind::done; });
    const auto order =
        std::find_if(out.begin(), out.end(), [](const action& a) { return a.m.kind == message_kind::fetch_read; });
    if (order == out.end()) return;
    action early = *order;
    early.m.kind = message_kind::done;
    early.to = node_id{0};
    out.add(early.kind, early.unit) = early;
  });
  EXPECT_THAT(said, AnyOf(HasSubstr("the sender's frame changed while its content was on the way"),
                          HasSubstr("one node may write while others may read")));
}

// ---- settled requests

/// The same where messages between two nodes overtake each other, as no transport has it.
std::string verdict_without_order(const std::vector<script>& program, const cluster::tampering& broken) {
  explorer x(plain(), program);
  x.forget_the_order_of_pairs();
  x.nodes().set_tampering(broken);
  return x.run().failure;
}

TEST(sequential_mutation, network_that_does_not_keep_the_order_of_a_pair) {
  // An order about a settled unit may then come before the unit.
  EXPECT_DEATH(
      die_of(verdict_without_order(writers, {})),
      "one node may write while others may read|two nodes may write|an atomic operation, while others have copies|"
      "broken belief: s.right");
}

TEST(sequential_mutation, only_settled_requests_need_that_order) {
  // Whoever wants to keep what it asks for sends a `done`, and every order waits for it.
  EXPECT_EQ(verdict_without_order(two_readers_and_a_writer,
                                  [](cluster&, node_id, const message*, actions& out) {
                                    change(out, [](action& a) {
                                      if (is_request(a)) a.m.flags |= model::message_flag::keep;
                                    });
                                  }),
            "");
}

TEST(sequential_mutation, reply_that_is_called_settled_while_acknowledgements_are_on_their_way) {
  // A requester that gets it last says nothing, and the manager waits.
  EXPECT_THAT(verdict(plain(), writers,
                      [](cluster&, node_id, const message*, actions& out) {
                        change(out, [](action& a) {
                          const bool grants =
                              a.m.kind == message_kind::write_grant || a.m.kind == message_kind::fetch_write;
                          if (grants && a.m.acks != 0) a.m.flags |= model::message_flag::settled;
                        });
                      }),
              AnyOf(HasSubstr("lost wake-up: thread"), HasSubstr("requests are left in a queue")));
}

TEST(sequential_mutation, manager_that_settles_a_write_while_others_have_copies) {
  const std::string said =
      verdict(plain(), two_readers_and_a_writer, [](cluster&, node_id, const message* m, actions& out) {
        if (is(m, message_kind::invalidate_ack))
          drop(out, [](const action& a) { return a.m.kind == message_kind::done; });
        message early;
        change(out, [&early](action& a) {
          const bool grants = a.m.kind == message_kind::write_grant || a.m.kind == message_kind::fetch_write;
          if (!grants || a.m.acks == 0) return;
          a.m.flags |= model::message_flag::settled;
          early = a.m;
        });
        if (early.acks == 0) return;
        early.kind = message_kind::done;
        action& done = out.add(action_kind::send, early.unit);
        done.m = early;
        done.to = node_id{0};
      });
  EXPECT_THAT(said, HasSubstr("the owner has no copy, and another node has one"));
}

TEST(sequential_mutation, done_though_the_reply_was_settled) {
  EXPECT_DEATH(die_of(verdict(plain(), writers,
                              [](cluster& x, node_id node, const message* m, actions& out) {
                                if (m == nullptr || !is_reply(*m) || !is_settled(*m)) return;
                                action& done = out.add(action_kind::send, m->unit);
                                done.m.kind = message_kind::done;
                                done.m.unit = m->unit;
                                done.m.requester = node;
                                done.to = x.manager_of(m->unit);
                              })),
               "broken belief: !e.requests.empty");
}

TEST(sequential_mutation, settled_upgrade_that_leaves_the_managers_view) {
  EXPECT_THAT(verdict(plain(), writers,
                      [](cluster&, node_id, const message*, actions& out) {
                        const bool upgrade = std::any_of(out.begin(), out.end(), [](const action& a) {
                          return a.m.kind == message_kind::write_grant && is_settled(a.m);
                        });
                        if (upgrade) drop(out, [](const action& a) { return a.kind == action_kind::protect; });
                      }),
              HasSubstr("the machine is wrong about its view"));
}

// ---- page locking

TEST(sequential_mutation, pin_that_is_not_kept) {
  // The machine forgets the pin when it is asked for the unit.
  EXPECT_DEATH(
      die_of(verdict(plain(), pinners,
                     [](cluster& x, node_id node, const message*, actions&) {
                       for (std::uint64_t u = 0; u < x.options().units; ++u) x.unit(node, u).pinned = 0;
                     })),
      "a node has lost a unit that it has pinned|a node may use what another has pinned|the machine has lost a pin|"
      "a thread waits for a unit that its node has pinned|atomic operation on a pinned unit");
}

TEST(sequential_mutation, pin_that_begins_only_when_the_thread_is_back) {
  // Then the unit can be gone again: not wrong, but no bound on the wait; what a thread has pinned is safe all the
  // same.
  const cluster::tampering broken = [](cluster& x, node_id node, const message* m, actions&) {
    if (m != nullptr && is_reply(*m) && x.pins_of(node, m->unit) == 0) x.unit(node, m->unit).pinned = 0;
  };
  cluster_options shape;
  shape.nodes = 2;
  shape.units = 1;
  shape.words = 1;
  shape.hold_off = false;
  explorer x(shape, {{n0, {pin, unpin}}, {n1, {pin, unpin}}});
  const auto kept = x.run();
  EXPECT_EQ(kept.failure, "");
  explorer y(shape, {{n0, {pin, unpin}}, {n1, {pin, unpin}}});
  y.nodes().set_tampering(broken);
  const auto lost = y.run();
  EXPECT_EQ(lost.failure, "");
  EXPECT_GT(lost.states, kept.states) << "the unit goes to and fro";
}

TEST(sequential_mutation, order_that_is_forgotten_at_the_end_of_a_pin) {
  EXPECT_THAT(verdict(plain(), pinners,
                      [](cluster& x, node_id node, const message* m, actions& out) {
                        // Only what a machine sends for a message that it got before, when a pin ends.
                        if (m != nullptr) return;
                        drop(out, [&](const action& a) {
                          return a.kind == action_kind::send && a.m.requester != node && x.pins_of(node, a.unit) == 0 &&
                                 is_reply(a.m);
                        });
                      }),
              HasSubstr("lost wake-up: thread"));
}

TEST(sequential_mutation, manager_that_settles_what_its_own_node_has_pinned) {
  EXPECT_DEATH(die_of(verdict(plain(), pinners,
                              [](cluster& x, node_id node, const message* m, actions& out) {
                                if (!is(m, message_kind::read_request) || x.manager_of(m->unit) != node ||
                                    x.pins_of(node, m->unit) == 0)
                                  return;
                                action& a = out.add(action_kind::send, m->unit);
                                a.to = m->requester;
                                a.m.kind = message_kind::read_reply;
                                a.m.flags = model::message_flag::settled | model::message_flag::zero;
                                a.m.requester = m->requester;
                                a.m.unit = m->unit;
                              })),
               "a node may use what another has pinned|one node may write while others may read|broken belief");
}

TEST(sequential_mutation, atomic_operation_that_does_not_wait_for_the_end_of_a_pin) {
  EXPECT_THAT(verdict(plain(), pinners,
                      [](cluster& x, node_id node, const message* m, actions& out) {
                        if (!is(m, message_kind::atomic_fetch) || x.pins_of(node, m->unit) == 0) return;
                        action& a = out.add(action_kind::operate, m->unit);
                        a.to = m->requester;
                        a.m = *m;
                        a.m.kind = message_kind::atomic_reply;
                      }),
              HasSubstr("another node's atomic operation on a pinned unit"));
}

TEST(sequential_mutation, wake_that_is_lost_by_a_pin) {
  EXPECT_THAT(verdict(plain(), pinners,
                      [](cluster& x, node_id node, const message* m, actions& out) {
                        if (m != nullptr && x.unit(node, m->unit).pinned != 0)
                          drop(out, [](const action& a) { return a.kind == action_kind::wake; });
                      }),
              HasSubstr("lost wake-up: thread"));
}

TEST(sequential_mutation, pin_that_is_counted_once_too_often) {
  EXPECT_THAT(
      verdict(plain(), pinners,
              [](cluster& x, node_id node, const message* m, actions&) {
                if (m != nullptr || x.state().pins[node.value()].size() == 0) return;
                x.pins(node).for_each([](const sequential::pin& p) { const_cast<sequential::pin&>(p).count += 1; });
              }),
      AnyOf(HasSubstr("lost wake-up: thread"), HasSubstr("pins left")));
}

// ---- double faults

TEST(sequential_mutation, probe_that_is_taken_for_written) {
  const std::vector<script> learns{{n1, {get(0), set(0, 1), get(0), set(0, 2), get(0), set(0, 3), get(0), set(0, 4)}},
                                   {n2, {get(0), set(0, 5), get(0)}}};
  // The machine believes that the view may be written.
  EXPECT_THAT(verdict(plain(), learns,
                      [](cluster& x, node_id node, const message*, actions& out) {
                        change(out, [&](action& a) {
                          const bool probe = a.kind == action_kind::permit && x.unit(node, a.unit).probe != 0 &&
                                             a.level == access::read;
                          if (probe && x.unit(node, a.unit).right() == access::write) a.level = access::write;
                        });
                      }),
              HasSubstr("the machine is wrong about its view"));
}

}  // namespace
}  // namespace quire::sim::sequential_mutation_test
