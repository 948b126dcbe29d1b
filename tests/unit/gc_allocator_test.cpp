// SPDX-License-Identifier: BSD-3-Clause
// What a node hands out of a heap's slice, against a shadow of all granules: nothing twice, nothing outside, zero where
// it says so, and whatever is free is found.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "gc/allocator.hpp"
#include "gc/types.hpp"

namespace quire::gc::gc_allocator_test {
namespace {

constexpr std::uint64_t unit = 256;  // granules of 4 KiB

TEST(gc_shape, slices_cover_the_heap_behind_the_roots) {
  for (const std::uint64_t unit_bytes : {4096u, 65536u, 2u << 20}) {
    for (unsigned nodes = 1; nodes <= 9; ++nodes) {
      const heap_shape shape = heap_shape::of(10u << 20, unit_bytes, nodes);
      EXPECT_GE(shape.bytes, (10u << 20) + most_roots * 8);
      std::uint64_t end = heap_shape::roots_units(unit_bytes) * shape.granules_a_unit();
      for (unsigned node = 0; node < nodes; ++node) {
        const granule_range slice = shape.slice(node);
        if (slice.count() == 0) continue;
        EXPECT_EQ(slice.first, end);
        EXPECT_EQ(shape.node_of(shape.unit_of(slice.first)), node);
        EXPECT_EQ(shape.node_of(shape.unit_of(slice.end - 1)), node);
        EXPECT_LE(object_offset(slice.end - 1) + granule_bytes - header_bytes,
                  (shape.unit_of(slice.end - 1) + 1) * unit_bytes);
        end = slice.end + 1;
      }
      EXPECT_EQ(end, shape.bytes / granule_bytes);
    }
  }
  EXPECT_FALSE(heap_shape::of(0, 4096, 2).is_object(4096 * 2));
  EXPECT_TRUE(heap_shape::of(0, 4096, 2).is_object(4096 * 2 + 16));
  EXPECT_FALSE(heap_shape::of(0, 4096, 2).is_object(4096 * 2 + 24));
}

TEST(gc_shape, sizes_of_objects) {
  EXPECT_EQ(granules_of(1, 1), 1u);
  EXPECT_EQ(granules_of(8, 1), 1u);
  EXPECT_EQ(granules_of(9, 1), 2u);
  EXPECT_EQ(granules_of(24, 1), 2u);
  EXPECT_EQ(granules_of(8, 3), 2u);
  EXPECT_EQ(granules_of(8, 0), 0u);
  EXPECT_EQ(granules_of(8, std::uint64_t{1} << 60), 0u);
  const object_header header = object_header::of(999, 123456789);
  EXPECT_EQ(header.type(), 999u);
  EXPECT_EQ(header.length(), 123456789u);
}

TEST(gc_allocator, small_objects_lie_in_one_unit) {
  slice_allocator memory({2 * unit, 10 * unit - 1}, unit);
  for (unsigned i = 0; i < 500; ++i) {
    const auto given = memory.allocate(1 + i % 5);
    ASSERT_TRUE(given);
    EXPECT_EQ(header_offset(given->at) / 4096, (header_offset(given->at) + (1 + i % 5) * 16 - 1) / 4096);
    EXPECT_EQ(given->dirty, 0u);
  }
  EXPECT_TRUE(memory.is_valid());
}

TEST(gc_allocator, full_is_full_and_a_collection_makes_room) {
  slice_allocator memory({unit, 9 * unit - 1}, unit);
  std::vector<std::uint64_t> all;
  while (const auto given = memory.allocate(3)) all.push_back(given->at);
  EXPECT_EQ(all.size(), 8u * (255 / 3));
  EXPECT_FALSE(memory.allocate(3));
  EXPECT_FALSE(memory.allocate(64));
  bitmap live(memory.slice().count());
  for (std::size_t i = 0; i < all.size(); i += 2) live.fill(all[i] - unit, 3);
  const std::uint64_t used = memory.used_granules();
  const std::uint64_t freed = memory.adopt(std::move(live));
  EXPECT_EQ(freed, used - memory.used_granules());
  EXPECT_EQ(memory.used_granules(), 3 * ((all.size() + 1) / 2));
  std::size_t again = 0;
  while (const auto given = memory.allocate(3)) {
    EXPECT_EQ(given->dirty, 3u);
    ++again;
  }
  EXPECT_EQ(again, all.size() / 2);
}

TEST(gc_allocator, large_objects_begin_with_a_unit) {
  slice_allocator memory({unit, 9 * unit - 1}, unit);
  ASSERT_TRUE(memory.allocate(2));
  const auto large = memory.allocate(2 * unit);
  ASSERT_TRUE(large);
  EXPECT_EQ(large->at % unit, 0u);
  EXPECT_FALSE(memory.allocate(8 * unit));
  EXPECT_TRUE(memory.allocate(5 * unit - 1));
  EXPECT_FALSE(memory.allocate(unit));
}

TEST(gc_allocator, borrowed_memory_lasts_to_the_next_collection) {
  slice_allocator lender({0, 8 * unit - 1}, unit), borrower({8 * unit, 9 * unit - 1}, unit);
  while (borrower.allocate(4)) {
  }
  EXPECT_FALSE(borrower.allocate(4));
  const auto run = lender.take_run(unit, 4 * unit);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->range.count(), 4 * unit);
  borrower.borrow(*run);
  const auto given = borrower.allocate(4);
  ASSERT_TRUE(given);
  EXPECT_TRUE(lender.slice().first <= given->at && given->at + 4 <= lender.slice().end);
  EXPECT_TRUE(lender.is_used(given->at));
  bitmap kept(lender.slice().count());
  kept.fill(given->at, 4);
  EXPECT_EQ(lender.adopt(std::move(kept)), 4 * unit - 4);
  bitmap full(borrower.slice().count());
  full.fill(0, full.size());
  (void)borrower.adopt(std::move(full));
  EXPECT_FALSE(borrower.allocate(4));
}

/// Everything at random, against a shadow by granule.
class shadow {
 public:
  explicit shadow(std::uint64_t seed)
      : random_(seed), memory_({first, first + size}, unit), owner_(size), touched_(size) {}
  void run() {
    for (int i = 0; i < 400; ++i) {
      if (random_() % 60 == 0)
        collect();
      else if (random_() % 40 == 0)
        lend();
      else
        allocate();
      ASSERT_TRUE(memory_.is_valid());
    }
  }

 private:
  static constexpr std::uint64_t first = 3 * unit, size = 40 * unit - 1;
  std::uint64_t draw_size() {
    switch (random_() % 8) {
      case 0:
        return 1 + random_() % (3 * unit);
      case 1:
        return 1 + random_() % unit;
      default:
        return 1 + random_() % 20;
    }
  }
  void allocate() {
    const std::uint64_t count = draw_size();
    const auto given = memory_.allocate(count);
    if (!given) return check_that_there_is_none(count);
    ASSERT_GE(given->at, first);
    ASSERT_LE(given->at + count, first + size);
    for (std::uint64_t g = given->at - first; g < given->at - first + count; ++g) {
      ASSERT_EQ(owner_[g], 0) << "handed out twice";
      owner_[g] = next_;
      ASSERT_TRUE(g < given->at - first + given->dirty || !touched_[g]) << "said to be zero";
      touched_[g] = true;
      ASSERT_TRUE(memory_.is_used(g + first));
    }
    ASSERT_TRUE(count > unit / 4 ||
                header_offset(given->at) / 4096 == (header_offset(given->at) + count * 16 - 1) / 4096);
    objects_[next_++] = {given->at - first, count};
  }
  void check_that_there_is_none(std::uint64_t count) {
    std::uint64_t run = 0;
    for (std::uint64_t g = 0; g < size; ++g) {
      const bool small = count <= unit / 4, last = (g + first) % unit == unit - 1;
      run = owner_[g] != 0 || (small && last) ? 0 : run + 1;
      ASSERT_LT(run, count) << "there was room";
    }
  }
  /// Whole units go to another node, which gives them back.
  void lend() {
    const std::uint64_t wanted = unit * (1 + random_() % 4);
    const auto run = memory_.take_run(unit, wanted);
    if (!run) return;
    const auto [range, dirty] = *run;
    ASSERT_EQ(range.first % unit, 0u);
    ASSERT_GE(range.count(), unit);
    ASSERT_LE(range.end, first + size);
    for (std::uint64_t g = range.first; g < range.end; ++g) {
      ASSERT_EQ(owner_[g - first], 0);
      ASSERT_TRUE(memory_.is_used(g));
      ASSERT_TRUE(g < range.first + dirty || !touched_[g - first]) << "said to be zero";
      touched_[g - first] = true;
    }
    memory_.give_back(range.first, range.count());
  }
  void collect() {
    bitmap live(size);
    for (auto o = objects_.begin(); o != objects_.end();) {
      if (random_() % 3 == 0) {
        live.fill(o->second.first, o->second.second);
        ++o;
        continue;
      }
      for (std::uint64_t g = 0; g < o->second.second; ++g) owner_[o->second.first + g] = 0;
      o = objects_.erase(o);
    }
    (void)memory_.adopt(std::move(live));
    std::uint64_t used = 0;
    for (const auto& [id, object] : objects_) used += object.second;
    ASSERT_EQ(memory_.used_granules(), used);
  }
  std::mt19937_64 random_;
  slice_allocator memory_;
  std::vector<int> owner_;
  std::vector<bool> touched_;
  std::map<int, std::pair<std::uint64_t, std::uint64_t>> objects_{};
  int next_ = 1;
};

TEST(gc_allocator, agrees_with_a_shadow) {
  for (std::uint64_t seed = 1; seed <= 1500 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    shadow(seed).run();
  }
}

TEST(gc_types, one_name_is_one_layout) {
  registrar names(3);
  const std::uint32_t offsets[] = {0, 8};
  EXPECT_EQ(names.add("list", layout_of(24, offsets)).number, 1u);
  EXPECT_EQ(names.add("tree", layout_of(24, std::span(offsets).first(1))).number, 2u);
  EXPECT_EQ(names.add("list", layout_of(24, offsets)).number, 1u);
  EXPECT_EQ(names.add("list", layout_of(32, offsets)).what, registrar::outcome::differs);
  EXPECT_EQ(names.add("list", layout_of(24, std::span(offsets).first(1))).what, registrar::outcome::differs);
  EXPECT_EQ(names.add("third", 5, 2).number, 3u);
  EXPECT_EQ(names.add("fourth", 5).what, registrar::outcome::full);
  EXPECT_EQ(names.add("third", 5).number, 3u);
}

TEST(gc_types, layouts_that_no_type_has) {
  const auto wrong = [](std::uint64_t bytes, std::vector<std::uint32_t> offsets) {
    return why_no_type(bytes, offsets) != nullptr;
  };
  EXPECT_FALSE(wrong(24, {0, 8, 16}));
  EXPECT_FALSE(wrong(3, {}));
  EXPECT_TRUE(wrong(0, {}));
  EXPECT_TRUE(wrong(24, {4}));
  EXPECT_TRUE(wrong(24, {24}));
  EXPECT_TRUE(wrong(24, {8, 8}));
  EXPECT_TRUE(wrong(24, {16, 8}));
  EXPECT_TRUE(wrong(20, {8}));
  EXPECT_TRUE(wrong(1024, std::vector<std::uint32_t>(101, 0)));
}

}  // namespace
}  // namespace quire::gc::gc_allocator_test
