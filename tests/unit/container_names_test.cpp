// SPDX-License-Identifier: BSD-3-Clause
// Names of containers: who makes one, who waits, and what becomes of it when it is unlinked or its node is lost.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "container/name_table.hpp"

namespace quire::container::container_names_test {
namespace {

using outcome = name_table::outcome;

TEST(container_names, who_opens_first_makes_and_others_wait) {
  name_table all;
  const auto a = all.open("a", true, false, false);
  EXPECT_EQ(a.what, outcome::make);
  EXPECT_EQ(a.number, 1);
  EXPECT_EQ(all.open("a", true, false, false).what, outcome::wait);
  EXPECT_EQ(all.take_away("a").what, outcome::wait);
  EXPECT_EQ(all.open("b", true, false, true).what, outcome::wait);  // alone, and one is being made
  EXPECT_EQ(all.open("b", false, false, false).what, outcome::none);
  all.made(a.number);
  EXPECT_EQ(all.open("a", true, true, false).what, outcome::exists);
  EXPECT_EQ(all.open("a", false, false, false).number, 1);
  EXPECT_EQ(all.take_away("a").what, outcome::busy);
  EXPECT_FALSE(all.closed(1));
  EXPECT_EQ(all.take_away("a").what, outcome::busy);
  EXPECT_FALSE(all.closed(1));
  EXPECT_EQ(all.take_away("a").what, outcome::found);
  EXPECT_EQ(all.open("a", true, false, false).what, outcome::wait);
  all.stays(1);
  EXPECT_EQ(all.open("a", false, false, false).what, outcome::found);
  EXPECT_FALSE(all.closed(1));
  EXPECT_EQ(all.take_away("a").what, outcome::found);
  all.gone(1);
  EXPECT_EQ(all.take_away("a").what, outcome::none);
  EXPECT_EQ(all.count(), 0u);
}

TEST(container_names, one_that_could_not_be_made_leaves_its_number_to_the_next) {
  name_table all;
  const auto a = all.open("a", true, false, true);
  EXPECT_EQ(a.what, outcome::make);
  all.failed(a.number);
  EXPECT_EQ(all.open("a", false, false, false).what, outcome::none);
  const auto b = all.open("b", true, false, true);  // nobody is at it any more
  EXPECT_EQ(b.what, outcome::make);
  EXPECT_EQ(b.number, a.number);
  EXPECT_EQ(all.last(), 1);
}

TEST(container_names, there_are_so_many) {
  name_table all;
  for (unsigned i = 1; i <= most_containers; ++i) EXPECT_EQ(all.open(std::to_string(i), true, false, false).number, i);
  EXPECT_EQ(all.open("one more", true, false, false).what, outcome::full);
  all.made(77);
  EXPECT_FALSE(all.closed(77));
  EXPECT_EQ(all.take_away("77").number, 77);
  all.gone(77);
  EXPECT_EQ(all.open("one more", true, false, false).number, 77);
}

TEST(container_names, of_a_node_that_is_lost) {
  name_table all;
  const auto a = all.open("a", true, false, false, 1), b = all.open("b", true, false, false, 2),
             c = all.open("c", true, false, false, 0);
  for (const auto& made : {a, c}) all.made(made.number);
  EXPECT_EQ(all.open("a", false, false, false, 2).number, a.number);
  EXPECT_EQ(all.open("a", false, false, false, 2).number, a.number);
  EXPECT_EQ(all.open("b", false, false, false, 0).what, outcome::wait);
  all.lost(2);
  EXPECT_EQ(all.open("b", false, false, false, 0).what, outcome::none) << "nobody waits for who made it";
  EXPECT_FALSE(all.is_changing());
  const auto again = all.open("b", true, false, true, 0);
  EXPECT_EQ(again.what, outcome::make);
  EXPECT_NE(again.number, b.number) << "there may be something of it";
  all.failed(again.number);
  EXPECT_EQ(all.take_away("a", 0).what, outcome::busy);
  EXPECT_FALSE(all.closed(a.number, 1));
  EXPECT_EQ(all.take_away("a", 1).what, outcome::found) << "what node 2 had open is closed";
  all.lost(1);
  EXPECT_EQ(all.open("a", false, false, false, 0).what, outcome::none);
  EXPECT_FALSE(all.closed(c.number, 0));
  EXPECT_EQ(all.take_away("c", 0).what, outcome::found);
  all.gone(c.number);
  EXPECT_EQ(all.open("d", true, false, false, 0).number, c.number);
}

TEST(container_names, are_noted_for_when_node_0_is_lost) {
  name_table all;
  all.note("a", 3);
  all.note("b", 1);
  EXPECT_EQ(all.look_up("a").number, 3);
  EXPECT_EQ(all.look_up("b").what, outcome::found);
  EXPECT_EQ(all.look_up("c").what, outcome::none);
  EXPECT_EQ(all.last(), 3);
  all.unnote(3);
  all.unnote(2);
  all.unnote(9);
  EXPECT_EQ(all.look_up("a").what, outcome::none);
  all.note("c", 3);
  EXPECT_EQ(all.look_up("c").number, 3);
  all.note("c", 1);  // the one before has gone, and this node has not heard of it
  EXPECT_EQ(all.look_up("c").number, 1);
  all.unnote(3);
  EXPECT_EQ(all.look_up("c").number, 1);
}

/// A container of that name, which is not open.
std::uint16_t made(name_table& all, const char* name) {
  const std::uint16_t number = all.open(name, true, true, false).number;
  all.made(number);
  EXPECT_FALSE(all.closed(number));
  return number;
}

TEST(container_names, one_that_is_unlinked_goes_with_its_last_opening) {
  name_table all;
  const auto a = made(all, "a");
  EXPECT_EQ(all.open("a", false, false, false).number, a);
  EXPECT_EQ(all.unlink("a").number, a);
  EXPECT_TRUE(all.is_changing());
  EXPECT_EQ(all.look_up("a").what, outcome::none);
  EXPECT_EQ(all.open("a", false, false, false).what, outcome::none);
  const auto other = made(all, "a");
  EXPECT_NE(other, a);
  EXPECT_FALSE(all.closed(a)) << "who unlinks has not told the nodes yet";
  EXPECT_TRUE(all.settled(a));
  EXPECT_TRUE(all.is_changing());
  all.gone(a);
  EXPECT_FALSE(all.is_changing());
  EXPECT_EQ(all.look_up("a").number, other);
  EXPECT_EQ(all.unlink("a").number, other);
  EXPECT_TRUE(all.settled(other)) << "nobody had it open";
  all.stays(other);
  EXPECT_EQ(all.look_up("a").what, outcome::none);
  EXPECT_EQ(all.unlink("a").what, outcome::none);
  EXPECT_EQ(made(all, "b"), a) << "the number is free";
  EXPECT_EQ(all.open("b", false, false, false).number, a);
  EXPECT_EQ(all.unlink("b").number, a);
  EXPECT_FALSE(all.settled(a));
  EXPECT_TRUE(all.goes_when_closed(a));
  EXPECT_TRUE(all.closed(a));
}

TEST(container_names, a_name_goes_over_to_another_at_once) {
  name_table all;
  const auto a = made(all, "a"), b = made(all, "b");
  EXPECT_EQ(all.rename("none", "b", false).what, outcome::none);
  EXPECT_EQ(all.rename("a", "b", true).what, outcome::exists);
  const auto same = all.rename("a", "a", false);
  EXPECT_EQ(same.what, outcome::found);
  EXPECT_EQ(same.number, 0);
  EXPECT_FALSE(all.is_changing());
  EXPECT_EQ(all.open("b", false, false, false).number, b);
  const auto got = all.rename("a", "b", false);
  EXPECT_EQ(got.number, a);
  EXPECT_EQ(got.replaced, b);
  EXPECT_EQ(all.look_up("b").number, a);
  EXPECT_EQ(all.look_up("a").what, outcome::none);
  for (const char* const name : {"a", "b"}) {  // until all nodes can see it
    const auto expected = std::string_view(name) == "a" ? outcome::none : outcome::wait;
    EXPECT_EQ(all.open(name, false, false, false).what, expected);
    EXPECT_EQ(all.take_away(name).what, expected);
    EXPECT_EQ(all.unlink(name).what, expected);
    EXPECT_EQ(all.rename(name, "c", false).what, expected);
  }
  const auto c = made(all, "c");
  EXPECT_EQ(all.rename("c", "b", false).what, outcome::wait);
  EXPECT_FALSE(all.settled(a));
  EXPECT_FALSE(all.settled(b)) << "it is open";
  EXPECT_FALSE(all.is_changing());
  EXPECT_EQ(all.rename("c", "b", false).replaced, a);
  EXPECT_FALSE(all.settled(c));
  EXPECT_TRUE(all.settled(a));
  EXPECT_TRUE(all.closed(b));
  all.gone(a);
  all.gone(b);
  EXPECT_EQ(all.count(), 1u);
}

TEST(container_names, those_of_a_checkpoint_keep_their_numbers) {
  name_table all;
  all.load("b", 2);
  all.load("e", 5);
  EXPECT_FALSE(all.is_changing());
  EXPECT_EQ(all.last(), 5);
  EXPECT_EQ(all.count(), 2u);
  const auto e = all.open("e", false, false, false);
  EXPECT_EQ(e.what, outcome::found);
  EXPECT_EQ(e.number, 5);
  EXPECT_EQ(all.open("a", false, false, false).what, outcome::none);
  std::vector<std::uint16_t> numbers;
  for (const char* const name : {"v", "w", "x", "y"}) numbers.push_back(all.open(name, true, false, false).number);
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(numbers, (std::vector<std::uint16_t>{1, 3, 4, 6}));
  EXPECT_TRUE(all.is_changing());
  for (const std::uint16_t number : numbers) all.made(number);
  EXPECT_FALSE(all.is_changing());
  EXPECT_EQ(all.take_away("b").number, 2);
  EXPECT_TRUE(all.is_changing());
}

TEST(container_names, one_of_a_checkpoint_without_a_name_goes_when_it_is_closed) {
  name_table all;
  all.load("", 1);
  all.load("b", 2);
  EXPECT_EQ(all.count(), 1u);
  EXPECT_TRUE(all.closed(1));
  all.gone(1);
  EXPECT_EQ(made(all, "c"), 1);
}

}  // namespace
}  // namespace quire::container::container_names_test
