// SPDX-License-Identifier: BSD-3-Clause
// Nodes that are short of memory (page-out), in all orders of small programs: copies are given up, owners' content
// leaves memory, others take units over. A frame that was given back holds garbage from then on, so that whoever still
// counts on it is seen. Whole nodes do it at random (whole_test, few_frames).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "explore.hpp"

namespace quire::sim::sequential_page_out_exhaustive_test {
namespace {

using enum operation_kind;
using model::message_kind;
using testing::HasSubstr;

void explore(std::vector<script> scripts, std::uint64_t at_least) {
  sim::explore(plain(), std::move(scripts), at_least);
}

constexpr node_id a{0}, b{1}, c{2};
operation set(std::uint64_t value) { return sim::set(0, value); }
constexpr operation get{read, 0}, out{page_out, 0}, take{take_over, 0};

TEST(sequential_page_out_exhaustive, a_copy_goes_while_another_node_writes) {
  explore({{a, {get, out, get}}, {b, {get, out, set(1), out, get}}, {c, {set(2), get}}}, 5'000);
}

TEST(sequential_page_out_exhaustive, a_copy_goes_before_its_upgrade) {
  explore({{a, {set(1), get, out, get}}, {b, {get, out, set(2)}}, {c, {get, out, {add, 0, 0, 1}}}}, 5'000);
}

TEST(sequential_page_out_exhaustive, a_copy_goes_while_it_is_pushed) {
  explore({{a, {set(1), {push, 0}}}, {b, {get, out, get}}, {c, {out, set(2), out}}}, 3'000);
}

TEST(sequential_page_out_exhaustive, a_unit_is_taken_over_while_others_want_it) {
  explore({{a, {set(1), out, get}}, {b, {take, out, get}}, {c, {take, get, out, set(2)}}}, 3'000);
}

TEST(sequential_page_out_exhaustive, pins_keep_what_they_have) {
  explore({{a, {{pin, 0}, out, get, {unpin, 0}}}, {b, {get, out, set(2)}}, {c, {take, out}}}, 1'000);
}

/// An owner has its content in its file, and copies are elsewhere, when it is asked to take the unit over: it gets the
/// right to write without content, as it has that.
TEST(sequential_page_out_exhaustive, who_has_a_unit_in_its_file_does_not_forget_it_when_asked_to_take_it) {
  explore({{a, {set(1), out, take, set(2)}}, {b, {get, get}}, {c, {get, out, get}}}, 500);
}

// ---- Do the checkers see?

const std::vector<script> copies_that_go{
    {a, {set(1), get, out, get}}, {b, {get, out, set(2)}}, {c, {get, out, {add, 0, 0, 1}}}};

TEST(sequential_page_out_mutation, manager_that_never_hears_of_a_copy_given_up) {
  // It then grants without content what the requester no longer has.
  EXPECT_DEATH((void)verdict(plain(), copies_that_go,
                             [](cluster&, node_id, const message*, model::actions& list) {
                               drop(list,
                                    [](const model::action& one) { return one.m.kind == message_kind::copy_dropped; });
                             }),
               "broken belief");
}

TEST(sequential_page_out_mutation, node_that_gives_up_a_copy_and_leaves_it_mapped) {
  EXPECT_THAT(verdict(plain(), copies_that_go,
                      [](cluster&, node_id, const message* trigger, model::actions& list) {
                        const bool drops = std::any_of(list.begin(), list.end(), [](const model::action& one) {
                          return one.m.kind == message_kind::copy_dropped;
                        });
                        if (trigger == nullptr && drops)
                          drop(list, [](const model::action& one) { return one.kind == model::action_kind::protect; });
                      }),
              HasSubstr("the machine is wrong about its view"));
}

}  // namespace
}  // namespace quire::sim::sequential_page_out_exhaustive_test
