// SPDX-License-Identifier: BSD-3-Clause
// Locks of ranges, as fcntl and flock have them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "container/lock_table.hpp"

namespace quire::container::lock_table_test {
namespace {

using outcome = lock_table::outcome;
constexpr lock_kind none = lock_kind::none, shared = lock_kind::shared, exclusive = lock_kind::exclusive;
constexpr std::uint64_t end = INT64_MAX;

struct on_file {
  lock_table all{};
  outcome set(std::uint64_t owner, lock_kind kind, std::uint64_t first, std::uint64_t last) {
    return all.set(7, {{owner, 0, false}, kind, first, last});
  }
  /// Whether another one may have it.
  bool free(lock_kind kind, std::uint64_t first, std::uint64_t last) const {
    return all.conflict(7, {{99, 9, false}, kind, first, last}) == nullptr;
  }
};

TEST(lock_table, many_may_read_or_one_may_write) {
  on_file f;
  EXPECT_EQ(f.set(1, shared, 0, 9), outcome::done);
  EXPECT_EQ(f.set(2, shared, 5, end), outcome::done);
  EXPECT_EQ(f.set(3, exclusive, 9, 9), outcome::in_the_way);
  EXPECT_EQ(f.set(1, exclusive, 0, 4), outcome::done) << "its own is not in the way";
  EXPECT_EQ(f.set(1, exclusive, 0, 5), outcome::in_the_way);
  EXPECT_EQ(f.set(2, none, 0, end), outcome::done);
  EXPECT_EQ(f.set(3, exclusive, 10, end), outcome::done);
  EXPECT_EQ(f.all.count(), 3u);
}

TEST(lock_table, a_part_can_go_or_change) {
  on_file f;
  EXPECT_EQ(f.set(1, exclusive, 10, 29), outcome::done);
  EXPECT_EQ(f.set(1, none, 15, 19), outcome::done);
  EXPECT_TRUE(f.free(exclusive, 15, 19));
  EXPECT_FALSE(f.free(shared, 14, 14));
  EXPECT_FALSE(f.free(shared, 20, 20));
  EXPECT_EQ(f.set(1, shared, 20, 24), outcome::done);
  EXPECT_TRUE(f.free(shared, 15, 24));
  EXPECT_FALSE(f.free(shared, 25, 25));
  EXPECT_EQ(f.all.count(), 3u);
  EXPECT_EQ(f.set(1, exclusive, 15, 24), outcome::done);
  EXPECT_EQ(f.all.count(), 1u) << "one again";
  EXPECT_EQ(f.set(1, none, 0, end), outcome::done);
  EXPECT_EQ(f.all.count(), 0u);
  EXPECT_EQ(f.set(1, none, 0, end), outcome::done);
}

TEST(lock_table, owners_are_of_a_node_and_of_a_kind) {
  lock_table all;
  EXPECT_EQ(all.set(1, {{5, 0, false}, exclusive, 0, end}), outcome::done);
  EXPECT_EQ(all.set(1, {{5, 1, false}, shared, 0, 0}), outcome::in_the_way) << "another host's";
  EXPECT_EQ(all.set(1, {{5, 1, true}, exclusive, 0, end}), outcome::done) << "of flock";
  EXPECT_EQ(all.set(2, {{6, 0, false}, exclusive, 0, end}), outcome::done) << "another container";
  const range_lock* const other = all.conflict(1, {{8, 0, false}, shared, 3, 3});
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->kind, exclusive);
  EXPECT_EQ(other->last, end);
  all.drop(1);
  all.drop(1);
  EXPECT_EQ(all.count(), 1u);
  EXPECT_EQ(all.set(1, {{5, 1, false}, shared, 0, 0}), outcome::done);
}

TEST(lock_table, there_are_so_many) {
  lock_table all;
  for (std::uint16_t i = 0; i < 1000; ++i) {
    for (std::uint64_t k = 0; k < lock_table::most / 1000; ++k)
      ASSERT_EQ(all.set(i, {{1, 0, false}, shared, 2 * k, 2 * k}), outcome::done);
  }
  EXPECT_EQ(all.set(1, {{2, 0, false}, shared, 0, 0}), outcome::full);
  EXPECT_EQ(all.set(1, {{1, 0, false}, none, 0, 0}), outcome::done);
  EXPECT_EQ(all.set(1, {{2, 0, false}, shared, 0, 0}), outcome::done);
}

/// Byte by byte, against what each owner has.
TEST(lock_table, does_what_a_table_of_bytes_does) {
  constexpr unsigned owners = 3, bytes = 12;
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    on_file f;
    std::array<std::array<lock_kind, bytes>, owners> model{};
    for (int step = 0; step < 60; ++step) {
      const unsigned owner = random() % owners;
      const auto kind = static_cast<lock_kind>(random() % 3);
      const unsigned a = random() % bytes, b = random() % bytes, first = std::min(a, b), last = std::max(a, b);
      bool free = true;
      for (unsigned other = 0; other < owners && kind != none; ++other) {
        for (unsigned i = first; i <= last && other != owner; ++i)
          free = free && (model[other][i] == none || (model[other][i] == shared && kind == shared));
      }
      ASSERT_EQ(f.set(owner, kind, first, last), free ? outcome::done : outcome::in_the_way)
          << "round " << round << ", step " << step;
      for (unsigned i = first; i <= last && free; ++i) model[owner][i] = kind;
      std::size_t ranges = 0;
      for (const auto& mine : model) {
        for (unsigned i = 0; i < bytes; ++i) ranges += mine[i] != none && (i == 0 || mine[i - 1] != mine[i]);
      }
      ASSERT_EQ(f.all.count(), ranges);
    }
  }
}

}  // namespace
}  // namespace quire::container::lock_table_test
