// SPDX-License-Identifier: BSD-3-Clause
// Content on two nodes: in each state of small programs a node may die, and the survivors hear of it at any later
// moment. No unit is lost, and no write that was acknowledged (sim/ledger.hpp); while nobody is dead or recovering,
// each acknowledged write is at two living nodes (invariant I12 of src/protocol/sequential/README.md). Whole nodes die
// at random moments of random programs in whole_death_test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore.hpp"

namespace quire::sim::sequential_replicas_test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using enum operation_kind;
constexpr node_id a{0}, b{1}, c{2};

cluster_options dying(std::initializer_list<node_id> mortal, unsigned units = 1, unsigned deaths = 1) {
  cluster_options o = sim::dying(mortal, units, deaths);
  o.replicas = true;
  return o;
}

constexpr operation released{release, 0};

TEST(sequential_replicas, nobody_dies) {
  explore(dying({}, 1, 0), {{a, {set(0, 1), get(0)}}, {b, {get(0), set(0, 2), released}}, {c, {set(0, 3), get(0)}}},
          1'000);
}

TEST(sequential_replicas, one_of_two_nodes_dies) {
  cluster_options o = dying({a, b});
  o.nodes = 2;
  explore(o, {{a, {set(0, 1), released, get(0)}}, {b, {get(0), set(0, 2), released}}}, 1'000);
}

TEST(sequential_replicas, any_of_three_dies) {
  explore(dying({a, b, c}), {{a, {set(0, 1), released}}, {b, {get(0), set(0, 2), released}}}, 10'000);
}

TEST(sequential_replicas, a_reader_or_writer_dies) {
  explore(dying({b}), {{a, {set(0, 1)}}, {b, {set(0, 2)}}, {c, {get(0), set(0, 3)}}}, 50'000);
}

TEST(sequential_replicas, the_manager_dies) {
  explore(dying({a}), {{a, {set(0, 1), released}}, {b, {set(0, 2)}}, {c, {get(0)}}}, 50'000);
}

TEST(sequential_replicas, what_was_seen_later_is_not_all_that_is_left) {
  explore(dying({a}, 2), {{a, {set(0, 1), set(1, 2)}}, {b, {get(1), get(0)}}}, 10'000);
}

TEST(sequential_replicas, atomic_operations_on_what_others_have_written) {
  explore(dying({a}), {{a, {set(0, 1), {add, 0, 0, 1}}}, {b, {{add, 0, 0, 1}, get(0)}}}, 5'000);
  explore(dying({b}, 2), {{b, {set(1, 1), {add, 0, 0, 1}}}, {c, {get(0), get(1)}}}, 5'000);
}

TEST(sequential_replicas, pushes_and_pins) {
  explore(dying({a}), {{b, {set(0, 1), {push, 0}, released}}, {c, {get(0)}}}, 10'000);
  explore(dying({b}), {{b, {{pin, 0}, set(0, 1), {unpin, 0}, released}}, {c, {{pin, 0}, set(0, 2), {unpin, 0}}}},
          5'000);
}

TEST(sequential_replicas, a_second_death_when_all_have_gone_on_or_before) {
  explore(dying({a, b}, 1, 2), {{a, {set(0, 1), released}}, {c, {get(0), set(0, 3), get(0)}}}, 10'000);
}

// ---- a host dies

/// As dying(), where nodes of one host may die at once: content is on two hosts.
cluster_options host_dying(std::initializer_list<node_id> host, unsigned deaths, std::vector<std::uint16_t> domains) {
  cluster_options o = dying(host, 1, deaths);
  o.domains = std::move(domains);
  return o;
}

TEST(sequential_replicas, the_host_of_the_manager_dies) {
  explore(host_dying({a, b}, 2, {0, 0, 2}), {{a, {set(0, 1), released}}, {b, {get(0), set(0, 2), released}}}, 10'000);
}

TEST(sequential_replicas, the_host_of_two_writers_dies) {
  explore(host_dying({b, c}, 2, {0, 1, 1}), {{b, {set(0, 1), released}}, {c, {set(0, 2), released}}}, 10'000);
}

TEST(sequential_replicas, a_node_of_a_host_dies_and_then_who_wrote_on_it) {
  explore(host_dying({b, c}, 2, {0, 1, 1}), {{a, {get(0)}}, {c, {set(0, 1), released, set(0, 2)}}}, 10'000);
}

/// Content goes to and fro on the host that lives; then its only neighbour dies, and content is on two nodes of one.
TEST(sequential_replicas, the_other_host_dies) {
  explore(host_dying({c}, 1, {0, 0, 2}), {{a, {set(0, 1), released}}, {b, {set(0, 2), released}}}, 5'000);
}

/// The unit goes to another node of its host, which knows of no backup but its neighbour; then who has the content
/// elsewhere dies.
TEST(sequential_replicas, who_has_it_on_another_host_dies) {
  cluster_options o = host_dying({c}, 1, {0, 0, 2, 3});
  o.nodes = 4;
  explore(o, {{a, {set(0, 1), released}}, {b, {set(0, 2)}}}, 10'000);
}

// ---- what the checkers would notice

const std::vector<script> two_writers{{a, {set(0, 1), released}}, {b, {get(0), set(0, 2), released}}};
const std::vector<script> reader_and_writer{{b, {set(0, 1), released}}, {c, {get(0), set(0, 2), get(0)}}};
const std::vector<script> written_again{{b, {set(0, 1), released, set(0, 2), released}}, {c, {get(0), get(0)}}};

/// What they say first of programs of which any node dies.
std::string spoiled(const cluster::tampering& broken) {
  for (const auto& program : {two_writers, reader_and_writer, written_again}) {
    if (std::string said = verdict(dying({a, b, c}), program, broken); !said.empty()) return said;
  }
  return {};
}

/// Without the messages of a kind that `f` does not want.
template <class F>
void change_kind(model::actions& out, model::message_kind what, F&& f) {
  model::actions changed;
  for (model::action one : out) {
    if (one.kind == model::action_kind::send && one.m.kind == what && !f(one)) continue;
    changed.add(one.kind, one.unit) = one;
  }
  out = changed;
}
const auto acknowledged_write =
    AnyOf(HasSubstr("an acknowledged write is on one node only"), HasSubstr("an acknowledged write is lost"));

TEST(sequential_replicas_noticed, nothing_where_nothing_is_broken) { EXPECT_EQ(spoiled({}), ""); }

TEST(sequential_replicas_noticed, an_owner_that_does_not_wait_for_answers) {
  EXPECT_THAT(spoiled([](cluster& x, node_id node, const message*, model::actions& out) {
                x.spoil().rounds[node.value()].unanswered = 0;
                change_kind(out, model::message_kind::replica_ack, [](auto&) { return false; });
              }),
              acknowledged_write);
}

TEST(sequential_replicas_noticed, content_that_is_not_sent_to_the_backup) {
  EXPECT_THAT(spoiled([](cluster&, node_id, const message*, model::actions& out) {
                change_kind(out, model::message_kind::replica, [](model::action& one) {
                  one.with_content = false;
                  return true;
                });
              }),
              AnyOf(HasSubstr("an acknowledged write is on one node only"),
                    HasSubstr("a read does not return the last write"), HasSubstr("a copy differs from the owner's")));
}

TEST(sequential_replicas_noticed, a_grant_that_names_a_wrong_backup) {
  EXPECT_THAT(spoiled([](cluster&, node_id, const message*, model::actions& out) {
                change_kind(out, model::message_kind::write_grant, [](model::action& one) {
                  if (one.m.a != 0) one.m.a = (one.m.a + (one.m.a % 3 == one.to.value() ? 1 : 0)) % 3 + 1;
                  return true;
                });
              }),
              AnyOf(HasSubstr("acknowledged write"), HasSubstr("a read does not return the last write"),
                    HasSubstr("a copy differs from the owner's"), HasSubstr("works on an old value")));
}

TEST(sequential_replicas_noticed, a_backup_that_does_not_report) {
  EXPECT_THAT(spoiled([](cluster&, node_id, const message*, model::actions& out) {
                change_kind(out, model::message_kind::survives, [](model::action& one) { return one.m.c == 0; });
              }),
              AnyOf(HasSubstr("an acknowledged write is lost"), HasSubstr("the owner's clock is behind")));
}

TEST(sequential_replicas_noticed, stamps_that_do_not_grow) {
  EXPECT_THAT(spoiled([](cluster& x, node_id node, const message* m, model::actions&) {
                if (m != nullptr && m->kind == model::message_kind::replica) {
                  x.spoil().replicas[node.value() * x.options().units + m->unit].stamp = 1;
                }
              }),
              HasSubstr("an acknowledged write is lost"));
}

}  // namespace
}  // namespace quire::sim::sequential_replicas_test
