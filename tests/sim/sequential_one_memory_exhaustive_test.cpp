// SPDX-License-Identifier: BSD-3-Clause
// All nodes have one memory (I20), in all orders of small programs: what one writes all read, several write at once,
// operations are whole, and who has a unit pinned is alone with it. At the end what the checkers see when one of the
// rules is broken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "explore.hpp"

namespace quire::sim::sequential_one_memory_exhaustive_test {
namespace {

using enum operation_kind;
using model::action;
using model::actions;
using model::message;
using model::message_kind;
using testing::HasSubstr;

constexpr node_id a{0}, b{1}, c{2};
constexpr operation add_one{add, 0, 0, 1}, give{push, 0}, lock{pin, 0}, unlock{unpin, 0};

cluster_options together() {
  cluster_options o = plain();
  o.nodes = 3;
  o.placement = model::placement::modulo;
  o.hosts = {0, 0, 0};
  o.one_memory = true;
  return o;
}

TEST(sequential_one_memory_exhaustive, readers_and_writers) {
  explore(together(), {{a, {set(0, 1), get(0)}}, {b, {get(0), set(0, 2)}}, {c, {get(0), set(0, 3), get(0)}}}, 200);
}

TEST(sequential_one_memory_exhaustive, a_unit_that_is_managed_elsewhere) {
  explore(together(), {{a, {set(1, 1), get(1)}}, {b, {get(1), set(1, 2)}}, {c, {get(1), set(1, 3), get(1)}}}, 200);
}

TEST(sequential_one_memory_exhaustive, message_passing_over_two_units) {
  explore(together(), {{a, {set(0, 1), set(1, 1)}}, {b, {get(1), get(0)}}, {c, {set(0, 2), get(1)}}}, 200);
}

TEST(sequential_one_memory_exhaustive, atomic_operations) {
  explore(together(), {{a, {add_one, get(0)}}, {b, {get(0), add_one, set(0, 9)}}, {c, {add_one, get(0), add_one}}},
          200);
}

TEST(sequential_one_memory_exhaustive, pushes) {
  explore(together(), {{a, {set(0, 1), give}}, {b, {get(0), set(0, 9)}}, {c, {get(0), give}}}, 200);
}

TEST(sequential_one_memory_exhaustive, pins_of_two_nodes_and_a_writer) {
  explore(together(), {{a, {get(0), set(0, 1)}}, {b, {lock, set(0, 2), unlock}}, {c, {get(0), lock, get(0), unlock}}},
          1'000);
}

TEST(sequential_one_memory_exhaustive, pins_operations_and_a_push) {
  explore(together(), {{a, {lock, set(0, 1), unlock, lock, unlock}}, {b, {add_one, set(0, 2)}}, {c, {give, add_one}}},
          1'000);
  explore(together(), {{a, {get(0), add_one}}, {b, {lock, unlock, set(0, 2)}}, {c, {give, lock, unlock}}}, 1'000);
}

TEST(sequential_one_memory_exhaustive, read_ahead_that_is_withheld) {
  explore(together(),
          {{a, {set(0, 1), lock, unlock}},
           {b, {{read_ahead, 0, 0, 0, 0, true}, {map_around, 0}, get(0)}},
           {c, {{write_ahead, 0, 0, 0, 0, true}, set(0, 4), get(0)}}},
          200);
}

// ---- Do the checkers see?

const std::vector<script> pinners{{a, {set(0, 1)}}, {b, {get(0), set(0, 2)}}, {c, {lock, set(0, 3), unlock}}};

TEST(sequential_one_memory_mutation, the_unbroken_protocol_passes) { EXPECT_EQ(verdict(together(), pinners, {}), ""); }

TEST(sequential_one_memory_mutation, node_that_keeps_its_view_of_a_pinned_unit) {
  EXPECT_THAT(verdict(together(), pinners,
                      [](cluster&, node_id, const message* m, actions& out) {
                        if (is(m, message_kind::invalidate))
                          drop(out, [](const action& x) { return x.kind == model::action_kind::protect; });
                      }),
              testing::AnyOf(HasSubstr("a node may use what another has pinned"),
                             HasSubstr("the machine is wrong about its view")));
}

}  // namespace
}  // namespace quire::sim::sequential_one_memory_exhaustive_test
