// SPDX-License-Identifier: BSD-3-Clause
// Barriers in which threads run tasks, on one node and on several, and tasks that travel by letters, under all orders
// of their steps: nobody passes a barrier before all have come and no task is open, every task is run once, and all
// threads end.
#include <memory>

#include "expect.hpp"
#include "region.hpp"

namespace quire::program::steps::meet_test {
namespace {

factory of(const region_shape& s) {
  return [s] { return std::make_unique<region>(s); };
}

TEST(meet_steps, threads_of_a_node_in_all_orders) {
  expect_well(explore(of({.threads_each = 3, .barriers = 3})));
  expect_well(explore(of({.threads_each = 2, .barriers = 2, .makers = {0, 1}, .tasks = 2, .children = 1})));
}
TEST(meet_steps, nodes_of_a_thread_in_all_orders) {
  expect_well(explore(of({.nodes = 2, .barriers = 3})));
  expect_well(explore(of({.nodes = 3, .barriers = 2})));
}
TEST(meet_steps, nodes_of_two_threads_in_all_orders) {
  expect_well(explore(of({.nodes = 2, .threads_each = 2, .barriers = 1})));
}
TEST(meet_steps, a_region_that_is_cancelled_in_all_orders) {
  expect_well(explore(of({.threads_each = 3, .barriers = 2, .makers = {0}, .tasks = 2, .canceller = 1})));
  expect_well(explore(of({.nodes = 2, .barriers = 3, .canceller = 1})));
  expect_well(explore(of({.nodes = 2, .barriers = 2, .makers = {0}, .tasks = 2, .canceller = 1})));
}

TEST(travel_steps, tasks_of_one_node_in_all_orders) {
  expect_well(explore(of({.nodes = 2, .barriers = 2, .makers = {0}, .tasks = 2})));
  expect_well(explore(of({.nodes = 2, .barriers = 1, .makers = {0}, .tasks = 2, .children = 2})));
}
TEST(travel_steps, tasks_of_both_nodes_in_all_orders) {
  expect_well(explore(of({.nodes = 2, .barriers = 1, .makers = {0, 1}, .tasks = 2})));
}
TEST(travel_steps, rings_that_are_full_in_all_orders) {
  expect_well(explore(of({.nodes = 2, .barriers = 1, .makers = {0}, .tasks = 4, .slots = 1})));
}

TEST(travel_steps, random_orders) {
  expect_well_at_random(of({.nodes = 3, .threads_each = 3, .barriers = 50}), 300);
  expect_well_at_random(of({.nodes = 3, .threads_each = 3, .barriers = 3, .makers = {0, 4}, .tasks = 8, .children = 3}),
                        2000);
  expect_well_at_random(
      of({.nodes = 3, .threads_each = 2, .barriers = 3, .makers = {0, 2, 5}, .tasks = 8, .children = 3, .slots = 1}),
      2000);
  expect_well_at_random(of({.nodes = 6, .threads_each = 1, .barriers = 4, .makers = {0, 5}, .tasks = 6, .children = 2}),
                        1000);
  expect_well_at_random(
      of({.nodes = 2, .threads_each = 3, .barriers = 4, .makers = {1}, .tasks = 5, .children = 2, .canceller = 4}),
      2000);
}

TEST(meet_steps, a_node_that_does_not_count_its_threads_is_found) {
  expect_found(explore(of({.threads_each = 2, .wrong = mistake::nobody_is_counted})), "to which not all have come");
}
TEST(meet_steps, a_node_that_does_not_wait_for_others_is_found) {
  expect_found(explore(of({.nodes = 2, .wrong = mistake::nodes_do_not_meet})), "to which not all have come");
}
TEST(meet_steps, a_node_that_forgets_its_tasks_is_found) {
  expect_found(explore(of({.nodes = 2, .makers = {0}, .tasks = 2, .wrong = mistake::open_tasks_are_ignored})),
               "while a task is open");
}
/// As it once was: two nodes that each have no room for what the other one is to take wait for each other.
TEST(travel_steps, senders_that_do_not_receive_are_found) {
  expect_found(
      explore(of({.nodes = 2, .makers = {0}, .tasks = 6, .slots = 1, .wrong = mistake::senders_do_not_receive})),
      "waits for ever");
}

TEST(travel_steps, a_node_gives_half_of_what_it_has) {
  EXPECT_EQ(tasks_to_give(0, 1, 64), 0u);
  EXPECT_EQ(tasks_to_give(1, 1, 64), 0u) << "the last one stays";
  EXPECT_EQ(tasks_to_give(5, 1, 64), 2u);
  EXPECT_EQ(tasks_to_give(100, 1, 64), 6u);
  EXPECT_EQ(tasks_to_give(1000, 100, 64), 64u);
}

}  // namespace
}  // namespace quire::program::steps::meet_test
