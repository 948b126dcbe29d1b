// SPDX-License-Identifier: BSD-3-Clause
// The shared heap's allocator: bad input, no memory, and what its callers rely on. Long runs: heap_model_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include "heap_support.hpp"

namespace quire::heap {
thread_local int allocations_left = -1;
}  // namespace quire::heap

namespace {

bool allocation_fails() noexcept {
  using quire::heap::allocations_left;
  if (allocations_left < 0) return false;
  if (allocations_left == 0) return true;
  --allocations_left;
  return false;
}

}  // namespace

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocation_fails() ? nullptr : ::operator new(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocation_fails() ? nullptr : ::operator new[](bytes);
}

namespace quire::heap::heap_test {
namespace {

TEST(size_classes, every_small_size_has_the_smallest_class_that_holds_it) {
  for (std::uint64_t bytes = 1; bytes <= largest_small_bytes; ++bytes) {
    const unsigned size_class = size_class_of(bytes);
    ASSERT_LT(size_class, size_class_count);
    ASSERT_GE(size_class_bytes(size_class), bytes);
    ASSERT_EQ(size_class_bytes(size_class) % smallest_object_bytes, 0u);
    if (size_class > 0) {
      ASSERT_LT(size_class_bytes(size_class - 1), bytes);
    }
    if (bytes > 128) {
      ASSERT_LE(size_class_bytes(size_class) - bytes, bytes / 8) << bytes;
    }
  }
}

// ---- Bad input ------------------------------------------------------------------------------------------------------

TEST(heap_input, sizes_and_alignments_that_cannot_be) {
  heap h{base_address, 64 * mib, page};
  for (const std::uint64_t bytes : {std::uint64_t{0}, 64 * mib + 1, std::uint64_t{1} << 60, std::uint64_t{SIZE_MAX},
                                    std::uint64_t{SIZE_MAX} - 4096}) {
    EXPECT_EQ(h.allocate(bytes).why(), QUIRE_INVALID) << bytes;
    EXPECT_EQ(h.allocate(bytes, 2 * mib).why(), QUIRE_INVALID) << bytes;
  }
  for (const std::uint64_t alignment :
       {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{24}, page + 16, 4 * mib, std::uint64_t{1} << 63}) {
    EXPECT_EQ(h.allocate(100, alignment).why(), QUIRE_INVALID) << alignment;
  }
  EXPECT_EQ(h.numbers().runs, 0u);
  EXPECT_TRUE(h.is_valid());
}

TEST(heap_input, only_the_start_of_a_live_allocation_can_be_freed) {
  heap h{base_address, 64 * mib, page};
  const std::uint64_t small = h.allocate(3000).value().address;
  const std::uint64_t large = h.allocate(3 * page).value().address;
  const std::uint64_t gone = h.allocate(page).value().address;
  ASSERT_TRUE(h.release(gone).ok());
  std::vector<std::uint64_t> bad{0,
                                 1,
                                 16,
                                 UINT64_MAX,
                                 UINT64_MAX - 15,
                                 base_address - 1,
                                 base_address - page,
                                 base_address + 64 * mib,
                                 base_address + 32 * mib,
                                 gone};
  for (const std::uint64_t offset : {1, 8, 16, 2999, 3072, 4096, 3072 * 21}) bad.push_back(small + offset);
  for (const std::uint64_t offset : {1, 16, 4096, 8192, 3 * 4096 - 1}) bad.push_back(large + offset);
  for (const std::uint64_t address : bad) {
    EXPECT_EQ(h.release(address), QUIRE_BAD_ADDRESS) << std::hex << address;
    EXPECT_EQ(h.size_of(address).why(), QUIRE_BAD_ADDRESS) << std::hex << address;
    EXPECT_EQ(h.try_resize(address, 1), QUIRE_BAD_ADDRESS) << std::hex << address;
  }
  EXPECT_EQ(h.size_of(small).value(), 3072u);
  EXPECT_EQ(h.size_of(large).value(), 3 * page);
  for (const std::uint64_t address : {small, large}) {
    EXPECT_TRUE(h.release(address).ok());
    EXPECT_EQ(h.release(address), QUIRE_BAD_ADDRESS);
  }
  expect_all_free(h, 64 * mib);
}

TEST(heap_input, a_range_counts_by_its_whole_pages) {
  heap none{base_address + 1, 2 * page - 2, page};
  EXPECT_EQ(none.allocate(1).why(), QUIRE_INVALID);
  EXPECT_TRUE(none.is_valid());
  heap one{base_address + 1, 3 * page - 2, page};
  const auto given = one.allocate(page);
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given.value().address, base_address + page);
  EXPECT_EQ(one.allocate(1).why(), QUIRE_NO_MEMORY);
  EXPECT_EQ(one.allocate(page + 1).why(), QUIRE_INVALID);
  EXPECT_TRUE(one.is_valid());
}

/// Whatever number of metadata allocations succeeds: an error or a success, never damage.
TEST(heap_input, no_memory_for_metadata_is_an_error_that_leaves_the_heap_whole) {
  const auto exercise = [](heap& h, int budget) {
    std::vector<std::uint64_t> live;
    bool failed = false;
    const std::uint64_t hole = h.allocate(5 * page).value().address;
    const std::uint64_t wall = h.allocate(page).value().address;
    EXPECT_TRUE(h.release(hole).ok());
    allocations_left = budget;
    for (const auto& [bytes, alignment] : {std::pair<std::uint64_t, std::uint64_t>{100, 16},
                                           {2 * page, 2 * page},
                                           {page, page},
                                           {100 * page, 64 * page},
                                           {2000, 16},
                                           {7 * page, page}}) {
      const auto given = h.allocate(bytes, alignment);
      if (given.ok()) live.push_back(given.value().address);
      failed = failed || given.why() == QUIRE_NO_MEMORY;
      EXPECT_TRUE(h.is_valid());
    }
    for (const std::uint64_t address : live) EXPECT_TRUE(h.try_resize(address, 16).ok());
    EXPECT_TRUE(h.is_valid());
    for (const std::uint64_t address : live) EXPECT_TRUE(h.release(address).ok());
    EXPECT_TRUE(h.release(wall).ok());
    allocations_left = -1;
    return failed;
  };
  int budget = 0;
  bool failed = true;
  for (; failed && budget < 100; ++budget) {
    heap h{base_address + page, 8 * mib, page};  // the first page is odd: an aligned run leaves a gap before it
    failed = exercise(h, budget);
    EXPECT_TRUE(h.allocate(8 * mib).ok());
  }
  EXPECT_GT(budget, 10);
  EXPECT_FALSE(failed);
}

// ---- What callers rely on -------------------------------------------------------------------------------------------

TEST(heap_use, a_terabyte_costs_nothing_until_used) {
  heap h{base_address, 1024 * gib, page};
  const auto big = h.allocate(700 * gib, 2 * mib);
  ASSERT_TRUE(big.ok());
  EXPECT_EQ(big.value().dirty_bytes, 0u);
  EXPECT_EQ(h.allocate(700 * gib).why(), QUIRE_NO_MEMORY);
  EXPECT_TRUE(h.allocate(200 * gib).ok());
  EXPECT_EQ(h.numbers().runs, 2u);
  EXPECT_TRUE(h.is_valid());
}

TEST(heap_use, every_alignment_for_every_kind_of_size) {
  heap h{base_address + 5 * page, 1024 * mib, page};
  for (std::uint64_t alignment = 1; alignment <= 2 * mib; alignment *= 2) {
    for (const std::uint64_t bytes : {1, 17, 100, 129, 200, 1000, 2049, 3840, 3841, 4096, 4097, 70'000, 3'000'000}) {
      const auto given = h.allocate(bytes, alignment);
      ASSERT_TRUE(given.ok()) << bytes << " aligned to " << alignment;
      EXPECT_EQ(given.value().address % std::max<std::uint64_t>(alignment, 16), 0u) << bytes;
      EXPECT_GE(given.value().bytes, bytes);
      EXPECT_EQ(h.size_of(given.value().address).value(), given.value().bytes);
    }
  }
  EXPECT_TRUE(h.is_valid());
}

TEST(heap_use, no_unit_holds_two_classes_or_small_beside_large) {
  for (const std::uint64_t unit : {page, 16 * kib, 256 * kib, 2 * mib}) {
    heap h{base_address + page, 512 * mib, unit};
    std::map<std::uint64_t, std::uint64_t> kind_of_unit;  // slot size, or 0 for page runs
    std::mt19937_64 random{unit};
    for (int i = 0; i < 3000; ++i) {
      const auto given = h.allocate(1 + random() % 6000);
      ASSERT_TRUE(given.ok());
      const std::uint64_t address = given.value().address, bytes = given.value().bytes;
      const std::uint64_t kind = bytes < page ? bytes : 0;
      for (std::uint64_t at = address / unit; at <= (address + bytes - 1) / unit; ++at) {
        ASSERT_EQ(kind_of_unit.try_emplace(at, kind).first->second, kind) << "unit " << unit;
      }
    }
  }
}

TEST(heap_use, exhausted_then_freed_then_used_again) {
  for (const std::uint64_t bytes : {16, 48, 960, 3840, 4096, 12'288}) {
    const std::uint64_t size = 2 * mib + 20 * kib;  // 32 spans; the 5 pages too short for one more must serve, too
    heap h{base_address, size, page};
    for (int round = 0; round < 3; ++round) {
      std::vector<std::uint64_t> live;
      auto given = h.allocate(bytes);
      for (; given.ok(); given = h.allocate(bytes)) live.push_back(given.value().address);
      EXPECT_EQ(given.why(), QUIRE_NO_MEMORY);
      const std::uint64_t slots = bytes < page ? 32 * (64 * kib / bytes) + 5 * (page / bytes) : size / bytes;
      EXPECT_EQ(live.size(), slots) << bytes;
      EXPECT_TRUE(h.is_valid());
      // One object back makes room for just one.
      ASSERT_TRUE(h.release(live[live.size() / 2]).ok());
      EXPECT_EQ(h.allocate(bytes).value().address, live[live.size() / 2]);
      EXPECT_FALSE(h.allocate(bytes).ok());
      for (const std::uint64_t address : live) ASSERT_TRUE(h.release(address).ok());
      expect_all_free(h, size);
    }
  }
}

TEST(heap_use, freed_objects_are_handed_out_again_lowest_first) {
  heap h{base_address, gib, page};
  std::vector<std::uint64_t> all;
  for (int i = 0; i < 10'000; ++i) all.push_back(h.allocate(64).value().address);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  for (const int i : {9000, 20, 5000}) ASSERT_TRUE(h.release(all[i]).ok());
  for (const int i : {20, 5000, 9000}) EXPECT_EQ(h.allocate(64).value().address, all[i]);
}

TEST(heap_use, of_empty_spans_the_lowest_is_kept) {
  for (const bool lowest_first : {true, false}) {
    heap h{base_address, gib, page};
    std::vector<std::uint64_t> all;
    for (int i = 0; i < 3 * 1024; ++i) all.push_back(h.allocate(64).value().address);
    if (!lowest_first) std::reverse(all.begin(), all.end());
    for (const std::uint64_t address : all) ASSERT_TRUE(h.release(address).ok());
    EXPECT_EQ(h.numbers().runs, 2u) << "one span, one free run";
    EXPECT_TRUE(h.is_valid());
    EXPECT_EQ(h.allocate(64).value().address, base_address);
  }
}

TEST(heap_use, fresh_memory_is_told_from_used_memory) {
  heap h{base_address, 64 * mib, page};
  const auto first = h.allocate(2 * page).value();
  EXPECT_EQ(first.dirty_bytes, 0u);
  const auto slot = h.allocate(100).value();
  EXPECT_EQ(slot.dirty_bytes, 0u);
  ASSERT_TRUE(h.release(slot.address).ok());
  const auto again = h.allocate(100).value();
  EXPECT_EQ(again.address, slot.address);
  EXPECT_EQ(again.dirty_bytes, again.bytes);
  EXPECT_EQ(h.allocate(100).value().dirty_bytes, 0u) << "the slot behind was never handed out";

  // The end of what was used, then fresh memory: only the first part counts as used.
  const auto tail = h.allocate(3 * page).value();
  EXPECT_EQ(tail.dirty_bytes, 0u);
  ASSERT_TRUE(h.release(tail.address).ok());
  const auto across = h.allocate(10 * page).value();
  EXPECT_EQ(across.address, tail.address);
  EXPECT_EQ(across.dirty_bytes, 3 * page);
  ASSERT_TRUE(h.release(across.address).ok());
  EXPECT_EQ(h.allocate(10 * page).value().dirty_bytes, 10 * page);
}

TEST(heap_use, pages_are_taken_where_they_are_wanted) {
  heap h{base_address, 64 * mib, page};
  const auto first = h.allocate(8 * page);
  ASSERT_TRUE(first.ok());
  const std::uint64_t at = first.value().address;
  EXPECT_EQ(h.allocate_at(at + 7 * page, 2 * page).why().code(), QUIRE_EXISTS);
  EXPECT_EQ(h.allocate_at(at + page + 16, page).why().code(), QUIRE_INVALID);
  EXPECT_EQ(h.allocate_at(at, 0).why().code(), QUIRE_INVALID);
  EXPECT_EQ(h.allocate_at(at, 65 * mib).why().code(), QUIRE_BAD_ADDRESS);
  ASSERT_TRUE(h.release(at).ok());
  // Within what is free, up to beyond all that was ever handed out, and far behind it.
  for (const auto& [offset, pages, dirty] :
       {std::array<std::uint64_t, 3>{2, 3, 3}, std::array<std::uint64_t, 3>{6, 10, 2},
        std::array<std::uint64_t, 3>{1000, 1, 0}, std::array<std::uint64_t, 3>{999, 1, 1},
        std::array<std::uint64_t, 3>{64 * mib / page - 1, 1, 0}}) {
    const auto got = h.allocate_at(at + offset * page, pages * page);
    ASSERT_TRUE(got.ok()) << offset;
    EXPECT_EQ(got.value().bytes, pages * page);
    EXPECT_EQ(got.value().dirty_bytes, dirty * page) << offset;
    EXPECT_EQ(h.allocate_at(at + offset * page, page).why().code(), QUIRE_EXISTS);
    ASSERT_TRUE(h.is_valid());
  }
  for (const std::uint64_t offset :
       {std::uint64_t{2}, std::uint64_t{6}, std::uint64_t{1000}, std::uint64_t{999}, 64 * mib / page - 1})
    EXPECT_TRUE(h.release(at + offset * page).ok());
  expect_all_free(h, 64 * mib);
}

TEST(heap_use, gaps_reach_to_the_next_allocations) {
  heap h{base_address, 64 * mib, page};
  const auto all = h.gap_around(base_address + mib);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all.value().address, base_address);
  EXPECT_EQ(all.value().bytes, 64 * mib);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(h.allocate(4 * page).ok());
  ASSERT_TRUE(h.release(base_address + 4 * page).ok());
  const auto between = h.gap_around(base_address + 6 * page);
  ASSERT_TRUE(between.ok());
  EXPECT_EQ(between.value().address, base_address + 4 * page);
  EXPECT_EQ(between.value().bytes, 4 * page);
  ASSERT_TRUE(h.release(base_address + 8 * page).ok());
  for (const std::uint64_t offset : {5 * page, 12 * page, 32 * mib}) {
    const auto behind = h.gap_around(base_address + offset);
    ASSERT_TRUE(behind.ok());
    EXPECT_EQ(behind.value().address, base_address + 4 * page);
    EXPECT_EQ(behind.value().bytes, 64 * mib - 4 * page);
  }
  EXPECT_EQ(h.gap_around(base_address).why().code(), QUIRE_BAD_ADDRESS);
  EXPECT_EQ(h.gap_around(base_address + 64 * mib).why().code(), QUIRE_BAD_ADDRESS);
}

TEST(heap_use, what_was_zero_when_it_was_freed_is_not_dirty) {
  heap h{base_address, 64 * mib, page};
  ASSERT_TRUE(h.allocate(4 * page).ok());
  ASSERT_TRUE(h.allocate(mib).ok());
  ASSERT_TRUE(h.release(base_address).ok());
  ASSERT_TRUE(h.release(base_address + 4 * page, true).ok());
  // The dirt is in front; what is taken and freed as ever is dirty again.
  EXPECT_EQ(h.allocate(2 * mib).value().dirty_bytes, 4 * page);
  ASSERT_TRUE(h.release(base_address).ok());
  EXPECT_EQ(h.allocate(2 * mib).value().dirty_bytes, 2 * mib);
  ASSERT_TRUE(h.release(base_address, true).ok());
  EXPECT_EQ(h.allocate(page).value().dirty_bytes, 0u);
  ASSERT_TRUE(h.release(base_address).ok());
  EXPECT_EQ(h.allocate(mib).value().dirty_bytes, page);
  EXPECT_EQ(h.allocate(2 * mib).value().dirty_bytes, 0u);
}

TEST(heap_use, dirt_on_both_sides_of_what_is_zero) {
  heap h{base_address, 64 * mib, page};
  for (const std::uint64_t bytes : {page, 7 * mib, page}) ASSERT_TRUE(h.allocate(bytes).ok());
  ASSERT_TRUE(h.release(base_address).ok());
  ASSERT_TRUE(h.release(base_address + page + 7 * mib).ok());
  ASSERT_TRUE(h.release(base_address + page, true).ok());
  const auto all = h.allocate(8 * mib).value();
  EXPECT_EQ(all.dirty_bytes, 7 * mib + 2 * page);
  EXPECT_EQ(all.clean_offset, page);
  EXPECT_EQ(all.clean_bytes, 7 * mib);
}

TEST(clean_pages, ranges_join_and_are_cut) {
  clean_pages c;
  c.add(10, 20);
  c.add(30, 40);
  EXPECT_EQ(c.dirty_end(10, 20), 10u);
  EXPECT_EQ(c.dirty_end(10, 40), 30u);
  c.add(20, 30);
  EXPECT_EQ(c.dirty_end(5, 40), 10u);
  EXPECT_EQ(c.dirty_end(12, 38), 12u);
  EXPECT_EQ(c.dirty_end(12, 41), 41u);
  c.remove(15, 16);
  EXPECT_EQ(c.dirty_end(10, 40), 16u);
  EXPECT_EQ(c.dirty_end(10, 15), 10u);
  for (std::uint64_t i = 0; i < 200; ++i) c.add(100 + 4 * i, 102 + 4 * i);  // more than are kept
  EXPECT_EQ(c.dirty_end(16, 40), 16u);
  EXPECT_EQ(c.dirty_end(0, 8), 8u);
}

TEST(heap_use, resize_where_it_stands) {
  heap h{base_address, 64 * page, page};
  const std::uint64_t first = h.allocate(4 * page).value().address;
  const std::uint64_t second = h.allocate(4 * page).value().address;
  EXPECT_EQ(h.try_resize(first, 5 * page), QUIRE_NO_MEMORY);
  EXPECT_EQ(h.size_of(first).value(), 4 * page);
  EXPECT_TRUE(h.try_resize(second, 60 * page).ok()) << "into fresh memory, to the very end";
  EXPECT_EQ(h.try_resize(second, 61 * page), QUIRE_NO_MEMORY);
  EXPECT_TRUE(h.try_resize(second, 1).ok());
  EXPECT_EQ(h.size_of(second).value(), page);
  EXPECT_EQ(h.numbers().live_bytes, 5 * page);
  EXPECT_TRUE(h.try_resize(second, 2 * page + 1).ok()) << "into a part of the free run behind";
  EXPECT_EQ(h.size_of(second).value(), 3 * page);
  ASSERT_TRUE(h.release(first).ok());
  EXPECT_EQ(h.try_resize(second, 0), QUIRE_INVALID);
  EXPECT_EQ(h.try_resize(second, SIZE_MAX), QUIRE_INVALID);
  EXPECT_TRUE(h.is_valid());
  ASSERT_TRUE(h.release(second).ok());

  const std::uint64_t small = h.allocate(100).value().address;
  EXPECT_TRUE(h.try_resize(small, 112).ok());
  EXPECT_EQ(h.try_resize(small, 113), QUIRE_NO_MEMORY);
  EXPECT_TRUE(h.try_resize(small, 1).ok());
  EXPECT_EQ(h.size_of(small).value(), 112u);
  ASSERT_TRUE(h.release(small).ok());
  expect_all_free(h, 64 * page);
}

TEST(heap_use, metadata_follows_what_is_live) {
  heap h{base_address, 1024 * gib, page};
  std::vector<std::uint64_t> live;
  for (int i = 0; i < 20'000; ++i) live.push_back(h.allocate(page).value().address);
  EXPECT_EQ(h.numbers().runs, 20'000u);
  for (const std::uint64_t address : live) ASSERT_TRUE(h.release(address).ok());
  EXPECT_EQ(h.numbers().runs, 1u);
}

}  // namespace
}  // namespace quire::heap::heap_test
