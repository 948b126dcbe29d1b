// SPDX-License-Identifier: BSD-3-Clause
// Deaths at every message boundary of small programs: in each state that can be reached, a node may die; each survivor
// hears of it at any later moment, from the launcher or from another survivor. What the dead had sent may still arrive
// until then. The survivors must come to an end: nobody waits for ever, no unit has two owners, what is read is what
// was written last, and a unit is lost only if no survivor has it and the dead had to do with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore.hpp"

namespace quire::sim::sequential_death_test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using enum operation_kind;
constexpr node_id a{0}, b{1}, c{2};

cluster_options dying(std::initializer_list<node_id> mortal, unsigned units = 1, unsigned deaths = 1) {
  cluster_options o = sim::dying(mortal, units, deaths);
  o.survives = true;
  return o;
}

TEST(sequential_death, of_the_manager_or_of_another_with_two_nodes) {
  explore(dying({a, b}), {{a, {set(0, 1), get(0)}}, {b, {get(0), set(0, 2), get(0)}}}, 20'000);
}

TEST(sequential_death, of_a_reader_or_writer_among_three) {
  explore(dying({b}), {{a, {set(0, 1)}}, {b, {get(0), set(0, 2)}}, {c, {get(0), set(0, 3)}}}, 50'000);
}

TEST(sequential_death, of_the_manager_among_three) {
  explore(dying({a}), {{a, {set(0, 1)}}, {b, {get(0), set(0, 2)}}, {c, {get(0), set(0, 3)}}}, 50'000);
}

TEST(sequential_death, of_an_heir_too) {
  explore(dying({a, b}, 1, 2), {{b, {set(0, 2)}}, {c, {get(0), set(0, 3), get(0)}}}, 50'000);
}

TEST(sequential_death, among_two_units) {
  explore(dying({b}, 2), {{a, {set(1, 1), get(0)}}, {b, {set(0, 2)}}, {c, {get(1)}}}, 50'000);
}

TEST(sequential_death, among_atomic_operations) {
  explore(dying({a}), {{b, {{add, 0, 0, 1}, get(0)}}, {c, {get(0), {add, 0, 0, 1}}}}, 10'000);
  explore(dying({b}), {{a, {get(0)}}, {b, {{add, 0, 0, 1}}}, {c, {get(0), {add, 0, 0, 1}}}}, 10'000);
}

TEST(sequential_death, among_pushes) {
  explore(dying({b}), {{a, {set(0, 1), {push, 0}}}, {b, {get(0)}}, {c, {set(0, 2), get(0)}}}, 50'000);
  explore(dying({a}), {{b, {set(0, 1), {push, 0}}}, {c, {get(0)}}}, 10'000);
}

TEST(sequential_death, among_pins) {
  explore(dying({b}),
          {{a, {{pin, 0}, set(0, 1), {unpin, 0}}}, {b, {{pin, 0}, {unpin, 0}}}, {c, {get(0), {pin, 0}, {unpin, 0}}}},
          20'000);
  explore(dying({a}), {{b, {{pin, 0}, {unpin, 0}}}, {c, {{pin, 0}, set(0, 1), {unpin, 0}}}}, 5'000);
}

TEST(sequential_death, among_read_ahead_and_pages_given_up) {
  const operation ahead{write_ahead, 0, 0, 0, 0, true};
  explore(dying({b}), {{a, {set(0, 1)}}, {b, {ahead, get(0)}}, {c, {get(0), {page_out, 0}, get(0)}}}, 20'000);
  explore(dying({a}), {{b, {ahead, set(0, 2)}}, {c, {get(0), {page_out, 0}, {take_over, 0}}}}, 10'000);
}

TEST(sequential_death, with_hold_off_and_double_faults) {
  cluster_options o = dying({b});
  o.hold_off = true;
  o.most_lost = 1;
  explore(o, {{b, {get(0), set(0, 2)}}, {c, {get(0), set(0, 3)}}}, 10'000);
  o = dying({a});
  o.learns = true;
  explore(o, {{b, {{advise_writing, 0}, get(0), set(0, 1)}}, {c, {get(0), set(0, 2)}}}, 20'000);
}

// ---- what the checkers would notice

/// The failure that is found when `spoil` has its way with the actions of every step.
std::string spoiled(std::function<void(model::actions&)> spoil) {
  return verdict(dying({a}), {{b, {get(0), set(0, 2)}}, {c, {get(0), set(0, 3), get(0)}}},
                 [&](cluster&, node_id, const message*, model::actions& out) { spoil(out); });
}

bool sends(const model::action& one, model::message_kind what) {
  return one.kind == model::action_kind::send && one.m.kind == what;
}

TEST(sequential_death_noticed, a_survivor_that_does_not_report) {
  EXPECT_THAT(
      spoiled([](auto& out) { drop(out, [](const auto& one) { return sends(one, model::message_kind::survives); }); }),
      AnyOf(HasSubstr("is lost, but a node has a copy"), HasSubstr("with a copy is not in the copyset")));
}

TEST(sequential_death_noticed, an_answer_that_does_not_come) {
  EXPECT_THAT(
      spoiled([](auto& out) { drop(out, [](const auto& one) { return sends(one, model::message_kind::unit_lost); }); }),
      HasSubstr("lost wake-up"));
}

TEST(sequential_death_noticed, threads_that_are_not_woken_at_the_cut) {
  EXPECT_THAT(spoiled([](auto& out) {
                if (out.size() == 1) drop(out, [](const auto& one) { return one.kind == model::action_kind::wake; });
              }),
              HasSubstr("lost wake-up"));
}

}  // namespace
}  // namespace quire::sim::sequential_death_test
