// SPDX-License-Identifier: BSD-3-Clause
// Which objects move, because nodes write others of the same unit; and where references point afterwards.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "gc/relocation.hpp"

namespace quire::gc::gc_relocation_test {
namespace {

const heap_shape shape = heap_shape::of(1u << 20, 4096, 3);
constexpr std::uint64_t unit = 10, first = unit * 256;

sharing::word_mask words(std::uint64_t granule, std::uint64_t count) {
  return sharing::words_under(header_offset(granule) - unit * 4096 + 8, count * 16 - 8, 4096);
}

TEST(gc_relocation, two_writers_of_two_objects_part) {
  const std::vector<live_object> objects = {{first, 2}, {first + 2, 2}, {first + 4, 2}};
  const std::vector<written_part> written = {{0, words(first, 2)}, {2, words(first + 2, 2)}};
  const auto wishes = plan(shape, unit, written, objects, 0);
  ASSERT_EQ(wishes.size(), 1u);
  EXPECT_EQ(wishes[0].what.granule, first + 2);
  EXPECT_EQ(wishes[0].to, 2u);
}

TEST(gc_relocation, one_writer_or_the_same_object_is_no_false_sharing) {
  const std::vector<live_object> objects = {{first, 2}, {first + 2, 2}};
  EXPECT_TRUE(plan(shape, unit, std::vector<written_part>{{1, words(first, 4)}}, objects, 0).empty());
  const std::vector<written_part> same = {{0, words(first, 2)}, {1, words(first, 2)}};
  EXPECT_TRUE(plan(shape, unit, same, objects, 0).empty());
}

TEST(gc_relocation, lines_that_two_nodes_wrote_tell_nothing_of_the_objects_in_them) {
  const std::vector<live_object> objects = {{first, 2}, {first + 2, 2}, {first + 8, 2}};
  const auto lines = [](std::uint64_t granule) { return sharing::words_of(sharing::lines_of(words(granule, 1))); };
  EXPECT_TRUE(
      plan(shape, unit, std::vector<written_part>{{0, lines(first)}, {1, lines(first + 2)}}, objects, 0).empty());
  const auto wishes =
      plan(shape, unit, std::vector<written_part>{{0, lines(first)}, {1, lines(first + 8)}}, objects, 2);
  ASSERT_EQ(wishes.size(), 1u);
  EXPECT_EQ(wishes[0].to, 1u);
}

/// Whatever is written: afterwards no two nodes are the only writers of two objects of the unit, and only such objects
/// move.
TEST(gc_relocation, random_units) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::vector<live_object> objects;
    for (std::uint64_t at = first; at < first + 250;) {
      const std::uint64_t count = 1 + random() % 12;
      if (at + count > first + 255) break;
      if (random() % 4 != 0) objects.push_back({at, count});
      at += count;
    }
    std::vector<std::vector<unsigned>> writers(objects.size());
    std::vector<written_part> written;
    for (unsigned node = 0; node < 3; ++node) {
      written_part part{node, {}};
      for (std::size_t i = 0; i < objects.size(); ++i) {
        if (random() % 12 != 0) continue;
        part.words |= words(objects[i].granule, objects[i].count);
        writers[i].push_back(node);
      }
      if (part.words.any()) written.push_back(part);
    }
    std::map<std::uint64_t, unsigned> moved;
    for (const wish& w : plan(shape, unit, written, objects, 1)) moved[w.what.granule] = w.to;
    std::optional<unsigned> stays;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const auto found = moved.find(objects[i].granule);
      if (found != moved.end()) {
        EXPECT_EQ(writers[i], std::vector<unsigned>{found->second});
      } else if (writers[i].size() == 1) {
        EXPECT_EQ(stays.value_or(writers[i][0]), writers[i][0]);
        stays = writers[i][0];
      }
    }
  }
}

TEST(gc_relocation, references_follow) {
  forwarding moved;
  moved.add({100, 500, 2});
  constexpr std::uint64_t base = 1u << 30;
  EXPECT_EQ(moved.now(base + object_offset(100), base), base + object_offset(500));
  EXPECT_EQ(moved.now(base + object_offset(101), base), base + object_offset(101));
  EXPECT_EQ(moved.now(0, base), 0u);
}

TEST(gc_relocation, evidence_adds_up) {
  evidence all;
  all.add(3, 1, sharing::words_under(0, 8, 4096));
  all.add(3, 1, sharing::words_under(64, 8, 4096));
  all.add(3, 0, {});
  ASSERT_EQ(all.units().size(), 1u);
  ASSERT_EQ(all.units().at(3).size(), 1u);
  EXPECT_EQ(all.units().at(3)[0].words.count(), 2u);
}

}  // namespace
}  // namespace quire::gc::gc_relocation_test
