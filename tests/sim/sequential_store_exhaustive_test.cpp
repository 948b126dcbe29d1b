// SPDX-License-Identifier: BSD-3-Clause
// Units that a store keeps (src/protocol/sequential/flush.cpp), in all orders of small programs: the store takes its
// time, and fails. After a sync it has every write before it; it never goes back; what a manager takes for clean nobody
// may write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "explore.hpp"

namespace quire::sim::sequential_store_exhaustive_test {
namespace {

using model::action;
using model::action_kind;
using model::message_kind;
using testing::HasSubstr;

cluster_options with_store(unsigned nodes, unsigned fails = 0) {
  cluster_options o = plain();
  o.nodes = nodes;
  o.units = 1;
  o.stored = true;
  o.store_fails = fails;
  return o;
}
void explore(unsigned nodes, std::vector<script> scripts, std::uint64_t at_least, unsigned fails = 0) {
  sim::explore(with_store(nodes, fails), std::move(scripts), at_least);
}

constexpr node_id home{0}, b{1}, c{2};
operation set(std::uint64_t value) { return sim::set(0, value); }
constexpr operation get{operation_kind::read, 0}, out{operation_kind::page_out, 0}, take{operation_kind::take_over, 0},
    add{operation_kind::add, 0, 0, 1}, pin{operation_kind::pin, 0}, unpin{operation_kind::unpin, 0},
    synced{operation_kind::sync, 0}, drop_it{operation_kind::drop_content, 0},
    discard{operation_kind::discard_content, 0};

TEST(sequential_store_exhaustive, home_alone) {
  explore(1,
          {{home, {set(1), synced, set(2), synced, out, get}},
           {home, {get, set(3), synced}},
           {home, {out, add, synced, out}}},
          3'000);
}

TEST(sequential_store_exhaustive, home_and_a_writer) {
  explore(
      2,
      {{home, {get, set(1), synced, set(2), out}}, {b, {set(3), synced, set(4), synced}}, {home, {synced, out, get}}},
      20'000);
}

TEST(sequential_store_exhaustive, threads_of_a_node_write_and_sync) {
  explore(2, {{b, {set(1), synced, set(2)}}, {b, {set(3), synced}}, {home, {get, out}}}, 5'000);
}

TEST(sequential_store_exhaustive, writers_at_three_nodes) {
  explore(3, {{home, {set(1), synced}}, {b, {set(2), synced}}, {c, {get, set(3)}}}, 20'000);
}

TEST(sequential_store_exhaustive, others_sync_what_was_written) {
  explore(3, {{home, {synced}}, {b, {set(1), set(2)}}, {c, {synced, get, synced}}}, 2'000);
}

TEST(sequential_store_exhaustive, operations_are_writes) {
  explore(3, {{home, {get, add, synced}}, {b, {add, set(2), synced}}, {c, {get, synced}}}, 20'000);
}

TEST(sequential_store_exhaustive, content_goes_to_the_store_and_comes_back) {
  explore(3, {{home, {set(1), synced, out, get}}, {b, {get, out, get}}, {c, {set(2)}}}, 10'000);
}

TEST(sequential_store_exhaustive, home_has_no_copy_and_is_asked_to_take_the_unit) {
  explore(3, {{home, {take, out, get}}, {b, {set(1), synced, out}}, {c, {take, set(2)}}}, 5'000);
}

TEST(sequential_store_exhaustive, pins_and_pushes) {
  explore(2,
          {{home, {pin, set(1), unpin, synced}},
           {b, {pin, set(2), unpin, {operation_kind::push, 0}}},
           {b, {synced, get, out}}},
          3'000);
  explore(3, {{home, {get, synced}}, {b, {set(1), {operation_kind::push, 0}, set(2), synced}}, {c, {get, out}}}, 5'000);
}

TEST(sequential_store_exhaustive, what_is_read_ahead_and_what_was_learnt) {
  cluster_options o = with_store(2);
  o.hold_off = true;
  o.most_lost = 2;
  sim::explore(o,
               {{home, {{operation_kind::write_ahead, 0}, get, set(1), synced}},
                {b, {{operation_kind::guess_ahead, 0, 0, 0, 0, true}, get, set(2), synced}}},
               2'000);
}

TEST(sequential_store_exhaustive, a_store_that_fails) {
  explore(2, {{home, {set(1), synced, synced}}, {b, {get, set(2), synced, out}}}, 5'000, 2);
  explore(3, {{home, {get, out}}, {b, {get, add, synced}}, {c, {set(1), pin, unpin}}}, 20'000, 2);
}

TEST(sequential_store_exhaustive, units_are_apart) {
  cluster_options o = with_store(2, 1);
  o.units = 2;
  o.placement = model::placement::modulo;
  sim::explore(o,
               {{home, {sim::set(0, 1), {operation_kind::sync, 1}, sim::get(1)}},
                {b, {sim::set(1, 2), sim::set(0, 3), {operation_kind::sync, 0}}}},
               1'500);
}

TEST(sequential_store_exhaustive, what_is_dropped_comes_again) {
  explore(1, {{home, {set(1), synced, drop_it, get}}, {home, {get, set(2), drop_it}}, {home, {add, synced, out}}},
          1'000);
  explore(2, {{home, {get, drop_it, set(1)}}, {b, {set(2), synced, drop_it, get}}}, 1'000);
  explore(3, {{home, {drop_it, get}}, {b, {get, set(1), synced}}, {c, {get, drop_it}}}, 5'000);
  explore(3, {{home, {set(1), synced, drop_it}}, {b, {get, add}}, {c, {get, get}}}, 5'000);
}

TEST(sequential_store_exhaustive, what_is_discarded_is_zero) {
  explore(1, {{home, {set(1), discard, get}}, {home, {get, set(2), synced}}}, 100);
  explore(2, {{home, {get, set(1), discard, get}}, {b, {set(2), synced, get}}}, 1'000);
  explore(2, {{home, {set(1), synced, out}}, {b, {set(2), discard, set(3), synced}}}, 1'000);
  explore(3, {{home, {discard, get}}, {b, {set(1), synced, get}}, {c, {get, set(2)}}}, 5'000);
  explore(3, {{home, {discard, drop_it}}, {b, {add, get}}, {c, {set(2), synced}}}, 5'000);
}

TEST(sequential_store_exhaustive, pins_and_pushes_beside_what_leaves) {
  explore(2, {{home, {pin, set(1), unpin, drop_it}}, {b, {discard, get}}}, 100);
  explore(2, {{home, {discard, get}}, {b, {pin, set(2), unpin, {operation_kind::push, 0}, drop_it}}}, 100);
}

TEST(sequential_store_exhaustive, what_leaves_where_the_store_fails) {
  explore(2, {{home, {set(1), synced, drop_it}}, {b, {get, discard, get}}}, 1'000, 2);
  explore(3, {{home, {get, out}}, {b, {drop_it, add}}, {c, {set(1), synced, discard}}}, 5'000, 2);
}

// ---- Do the checkers see?

const std::vector<script> writers{{home, {get, set(1), synced, set(2)}}, {b, {set(3), synced, set(4), synced}}};

TEST(sequential_store_mutation, home_that_flushes_and_may_write_on) {
  EXPECT_THAT(verdict(with_store(2), writers,
                      [](cluster&, node_id, const message*, model::actions& list) {
                        const bool flushes = std::any_of(
                            list.begin(), list.end(), [](const action& one) { return one.kind == action_kind::flush; });
                        if (flushes) drop(list, [](const action& one) { return one.kind == action_kind::protect; });
                      }),
              HasSubstr("may write"));
}

TEST(sequential_store_mutation, flush_that_is_forgotten) {
  EXPECT_THAT(verdict(with_store(2), writers,
                      [](cluster&, node_id, const message*, model::actions& list) {
                        drop(list, [](const action& one) { return one.kind == action_kind::flush; });
                      }),
              HasSubstr("the manager believes otherwise"));
}

TEST(sequential_store_mutation, manager_that_takes_a_write_for_none) {
  EXPECT_THAT(verdict(with_store(2), writers,
                      [](cluster& all, node_id, const message* m, model::actions&) {
                        if (is(m, message_kind::write_request)) all.entry(0).dirty = 0;
                      }),
              HasSubstr("clean"));
}

TEST(sequential_store_mutation, flush_that_is_wanted_and_forgotten) {
  EXPECT_THAT(verdict(with_store(2), writers,
                      [](cluster& all, node_id, const message* m, model::actions&) {
                        if (is(m, message_kind::write_back)) all.entry(0).wanted = 0;
                      }),
              HasSubstr("waits for unit"));
}

TEST(sequential_store_mutation, failed_flush_that_is_taken_for_done) {
  const std::vector<script> alone{{home, {set(1), synced, get}}};
  EXPECT_THAT(verdict(with_store(1, 1), alone,
                      [](cluster& all, node_id, const message* m, model::actions& list) {
                        const bool failed =
                            m == nullptr && list.size() == 0 && all.state().failed != 0 && all.entry(0).flushing == 0;
                        if (failed && all.view(home, 0) == access::read && all.entry(0).wanted == 0)
                          all.entry(0).dirty = 0;
                      }),
              HasSubstr("clean"));
}

}  // namespace
}  // namespace quire::sim::sequential_store_exhaustive_test
