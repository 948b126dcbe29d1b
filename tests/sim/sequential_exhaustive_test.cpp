// SPDX-License-Identifier: BSD-3-Clause
// All interleavings of small programs on three nodes: every order in which messages of different pairs of nodes can
// arrive, and in which threads can run. Unit u is managed by node u.
#include <gtest/gtest.h>

#include "explore.hpp"

namespace quire::sim::sequential_exhaustive_test {
namespace {

using enum operation_kind;
constexpr node_id a{0}, b{1}, c{2};

operation lock(std::uint32_t unit) { return {pin, unit}; }
operation lock_or_give_up(std::uint32_t unit) { return {pin_or_give_up, unit}; }
operation unlock(std::uint32_t unit) { return {unpin, unit}; }

TEST(sequential_exhaustive, three_writers) {
  explore(plain(), {{a, {set(0, 1)}}, {b, {set(0, 2)}}, {c, {set(0, 3)}}}, 1'000);
}

TEST(sequential_exhaustive, read_then_write_everywhere) {
  explore(plain(), {{a, {get(0), set(0, 1)}}, {b, {get(0), set(0, 2)}}, {c, {get(0), set(0, 3)}}}, 10'000);
}

TEST(sequential_exhaustive, two_units_crosswise) {
  explore(plain(), {{a, {set(1, 1), get(0), set(0, 5)}}, {b, {set(0, 2), get(1)}}, {c, {set(0, 3), get(1), set(1, 4)}}},
          50'000);
}

TEST(sequential_exhaustive, message_passing_over_two_units) {
  explore(plain(), {{a, {set(0, 1), set(1, 1)}}, {b, {get(1), get(0)}}, {c, {set(0, 2), get(1)}}}, 20'000);
}

TEST(sequential_exhaustive, atomic_operations_among_reads_and_writes) {
  explore(plain(),
          {{a, {{add, 0, 0, 1}, get(0)}},
           {b, {{exchange, 0, 0, 7}, set(0, 9)}},
           {c, {get(0), {compare_exchange, 0, 0, 1, 5}}}},
          5'000);
}

TEST(sequential_exhaustive, pushes_among_reads_and_writes) {
  explore(plain(), {{a, {set(0, 1), {push, 0}}}, {b, {get(0), set(0, 9)}}, {c, {get(0), {push, 0}}}}, 10'000);
}

TEST(sequential_exhaustive, two_threads_of_a_node_race) {
  explore(plain(), {{a, {set(0, 1)}}, {b, {get(0)}}, {b, {set(0, 9)}}, {c, {get(0)}}, {c, {{add, 0, 0, 1}}}}, 50'000);
}

TEST(sequential_exhaustive, read_ahead_withheld_and_mapped_around) {
  explore(plain(),
          {{a, {set(0, 1), {push, 0}}},
           {b, {{read_ahead, 0, 0, 0, 0, true}, {map_around, 0}, get(0)}},
           {c, {{write_ahead, 0, 0, 0, 0, true}, set(0, 4), get(0)}}},
          10'000);
}

TEST(sequential_exhaustive, everything_at_one_manager) {
  cluster_options o = plain();
  o.placement = model::placement::node;
  o.fixed = c;
  explore(o, {{a, {set(0, 1), get(1)}}, {b, {{add, 1, 0, 1}, get(0)}}, {b, {set(0, 2)}}, {c, {get(0)}}}, 10'000);
}

TEST(sequential_exhaustive, with_hold_off) {
  cluster_options o = plain();
  o.hold_off = true;
  o.most_lost = 2;
  explore(o, {{a, {set(0, 1), {add, 0, 0, 1}}}, {b, {get(0), set(0, 2)}}, {c, {get(0), set(0, 3)}}}, 30'000);
}

TEST(sequential_exhaustive, with_hold_off_and_a_second_thread_that_upgrades_or_pushes) {
  cluster_options o = plain();
  o.hold_off = true;
  o.most_lost = 1;
  explore(o, {{b, {set(0, 1)}}, {b, {get(0), set(0, 2)}}, {c, {{push, 0}, set(0, 3)}}}, 5'000);
}

// ---- page locking

TEST(sequential_exhaustive, three_nodes_pin_one_unit) {
  explore(plain(),
          {{a, {lock(0), get(0), set(0, 1), unlock(0)}},
           {b, {lock(0), get(0), set(0, 2), unlock(0)}},
           {c, {lock(0), get(0), set(0, 3), unlock(0)}}},
          400);
}

TEST(sequential_exhaustive, pins_among_reads_writes_and_atomic_operations) {
  explore(
      plain(),
      {{a, {get(0), {add, 0, 0, 1}}}, {b, {lock(0), {add, 0, 0, 1}, set(0, 2), unlock(0)}}, {c, {get(0), set(0, 3)}}},
      4'000);
}

TEST(sequential_exhaustive, pins_at_the_manager_among_requests_that_could_be_settled) {
  explore(
      plain(),
      {{a, {lock(0), set(0, 1), unlock(0), get(0)}}, {b, {get(0), {add, 0, 0, 1}}}, {c, {set(0, 3), {add, 0, 0, 1}}}},
      5'000);
}

TEST(sequential_exhaustive, pins_among_pushes) {
  explore(plain(),
          {{a, {{push, 0}, get(0)}},
           {b, {lock(0), set(0, 9), unlock(0)}},
           {b, {{push, 0}}},
           {c, {get(0), lock(0), unlock(0)}}},
          20'000);
}

TEST(sequential_exhaustive, nested_and_overlapping_pins_in_ascending_order) {
  explore(plain(),
          {{a, {lock(0), lock(1), lock(0), set(1, 1), unlock(0), unlock(1), unlock(0)}},
           {b, {lock(0), lock(1), set(0, 2), unlock(0), unlock(1)}},
           {c, {lock(1), set(1, 3), unlock(1)}}},
          1'000);
}

TEST(sequential_exhaustive, pins_against_the_order_of_addresses_deadlock_unless_somebody_gives_up) {
  const auto crosswise = [](operation second) {
    return std::vector<script>{{a, {lock(0), second, unlock(1), unlock(0)}},
                               {b, {lock(1), lock(0), unlock(0), unlock(1)}}};
  };
  explorer x(plain(), crosswise(lock(1)));
  EXPECT_NE(x.run().failure.find("has not ended its pins"), std::string::npos);
  explore(plain(), crosswise(lock_or_give_up(1)), 200);
}

TEST(sequential_exhaustive, threads_of_a_node_share_its_pin) {
  explore(plain(),
          {{b, {get(0), lock(0), set(0, 1), unlock(0)}},
           {b, {lock(0), set(0, 2), unlock(0)}},
           {b, {set(0, 4)}},
           {c, {set(0, 3), {add, 0, 0, 1}}}},
          5'000);
}

TEST(sequential_exhaustive, pins_that_are_given_up) {
  explore(plain(),
          {{a, {lock_or_give_up(0), unlock(0), set(0, 1)}},
           {b, {get(0), lock_or_give_up(0), unlock(0)}},
           {b, {lock_or_give_up(0), unlock(0)}},
           {c, {lock(0), set(0, 3), unlock(0)}}},
          20'000);
}

TEST(sequential_exhaustive, pins_with_read_ahead_and_upgrades_under_way) {
  explore(plain(),
          {{a, {set(0, 1), get(0)}},
           {b, {get(0), {write_ahead, 0, 0, 0, 0, true}, lock(0), get(0), unlock(0)}},
           {b, {set(0, 2)}},
           {c, {{read_ahead, 0, 0, 0, 0, true}, lock(0), {map_around, 0}, set(0, 4), unlock(0)}}},
          20'000);
}

TEST(sequential_exhaustive, pins_with_hold_off) {
  cluster_options o = plain();
  o.hold_off = true;
  o.most_lost = 1;
  explore(o, {{a, {set(0, 1), set(0, 5)}}, {b, {get(0), lock(0), set(0, 2), unlock(0)}}, {c, {get(0), set(0, 3)}}},
          20'000);
}

// ---- double faults

TEST(sequential_exhaustive, units_that_learn_to_be_fetched_for_writing) {
  // The third read asks for a writable copy, which is a probe; the fourth for one that is mapped so at once.
  explore(plain(),
          {{b, {get(0), set(0, 1), get(0), set(0, 2), get(0), set(0, 3), get(0), set(0, 4)}},
           {c, {get(0), set(0, 5), get(0)}}},
          5'000);
}

TEST(sequential_exhaustive, probes_among_atomic_operations_pushes_and_pins) {
  explore(plain(),
          {{a, {set(0, 1), {push, 0}}},
           {b, {get(0), set(0, 2), get(0), set(0, 3), get(0)}},
           {c, {get(0), {add, 0, 0, 1}, lock(0), unlock(0)}}},
          20'000);
}

TEST(sequential_exhaustive, sweep_that_is_guessed_to_write) {
  const operation withheld{guess_ahead, 0, 0, 0, 0, true}, mapped{guess_ahead, 0};
  explore(plain(),
          {{a, {set(0, 1), get(0)}},
           {b, {withheld, get(0), set(0, 2)}},
           {b, {{map_around, 0}}},
           {c, {mapped, get(0), {add, 0, 0, 1}}}},
          20'000);
}

TEST(sequential_exhaustive, advised_units_with_read_ahead) {
  const operation ahead{read_ahead, 0, 0, 0, 0, true};
  explore(plain(),
          {{a, {get(0), set(0, 1)}},
           {b, {{advise_writing, 0}, ahead, get(0), set(0, 2), {advise_nothing, 0}, get(0)}},
           {c, {get(0)}}},
          5'000);
}

}  // namespace
}  // namespace quire::sim::sequential_exhaustive_test
