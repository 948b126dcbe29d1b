// SPDX-License-Identifier: BSD-3-Clause
// The allocator of heaps whose small objects are sharing units of their own: sizes, where slots lie, what is announced
// and when.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "minipage_heap_support.hpp"

namespace quire::heap::minipage_heap_test {
namespace {

// ---- Sizes and places -----------------------------------------------------------------------------------------------

TEST(minipage_heap_sizes, a_slot_is_exactly_what_was_asked_for_in_steps_of_16_bytes) {
  for (const unsigned views : {1u, 2u, 3u, 16u, 100u, 256u}) {
    minipage_heap h{base_address, gib, views};
    page_table table{gib};
    for (std::uint64_t bytes = 1; bytes <= largest_minipage_bytes; ++bytes) {
      const auto given = allocate(h, table, bytes).value();
      const std::uint64_t slot = std::max(up_to_16(bytes), least_slot(views));
      if (slot > largest_minipage_bytes) {
        ASSERT_EQ(given.bytes, page) << bytes << ", " << views;
        ASSERT_EQ(table.minipage_of(given.address), 0u);
      } else {
        ASSERT_EQ(given.bytes, slot) << bytes << ", " << views;
        ASSERT_EQ(table.minipage_of(given.address), slot);
        ASSERT_LE(page / slot, views);
        ASSERT_EQ(offset_in_page(given.address) % slot, 0u);
        ASSERT_LE(offset_in_page(given.address) + slot, page) << "it crosses a page";
      }
    }
    EXPECT_TRUE(h.is_valid());
  }
}

/// With guards an object has the end of a page of its own, and all of the page behind it shows other minipages.
TEST(minipage_heap_sizes, objects_with_guards_end_where_their_page_ends) {
  for (const unsigned views : {2u, 16u, 256u}) {
    minipage_heap h{base_address, gib, views, true};
    page_table table{gib};
    h.set_chunk(7);
    std::set<std::uint64_t> pages;
    for (std::uint64_t bytes = 1; bytes <= largest_minipage_bytes; bytes += 7) {
      const std::uint64_t alignment = std::uint64_t{1} << bytes % 9;
      const auto given = allocate(h, table, bytes, alignment).value();
      ASSERT_EQ(given.bytes, (bytes + std::max<std::uint64_t>(alignment, 16) - 1) /
                                 std::max<std::uint64_t>(alignment, 16) * std::max<std::uint64_t>(alignment, 16));
      ASSERT_EQ((given.address + given.bytes) % page, 0u);
      ASSERT_EQ(table.minipage_of(given.address), std::max(given.bytes, least_slot(views)));
      ASSERT_EQ(table.minipage_of(given.address + given.bytes), table.minipage_of(given.address));
      ASSERT_TRUE(pages.insert(given.address / page).second && pages.insert(given.address / page + 1).second)
          << "alone";
      ASSERT_EQ(h.size_of(given.address).value(), given.bytes);
      ASSERT_EQ(h.around(given.address + bytes - 1).value().address, given.address);
      ASSERT_EQ(h.around(given.address + given.bytes).why(), QUIRE_BAD_ADDRESS);
      ASSERT_EQ(h.release(given.address - 16), QUIRE_BAD_ADDRESS);
      ASSERT_EQ(h.release(given.address + given.bytes), QUIRE_BAD_ADDRESS);
    }
    EXPECT_TRUE(h.is_valid());
  }
}

TEST(minipage_heap_sizes, about_the_bounds) {
  for (const unsigned views : {1u, 2u, 16u, 256u}) {
    minipage_heap h{base_address, 64 * mib, views};
    page_table table{64 * mib};
    EXPECT_EQ(h.allocate(0).why(), QUIRE_INVALID);
    EXPECT_EQ(h.plan(0, 16).why(), QUIRE_INVALID);
    EXPECT_EQ(h.allocate(64 * mib + 1).why(), QUIRE_INVALID);
    EXPECT_EQ(h.allocate(SIZE_MAX).why(), QUIRE_INVALID);
    for (const std::uint64_t alignment : {std::uint64_t{0}, std::uint64_t{3}, page + 16, 4 * mib}) {
      EXPECT_EQ(h.allocate(100, alignment).why(), QUIRE_INVALID) << alignment;
      EXPECT_EQ(h.plan(100, alignment).why(), QUIRE_INVALID) << alignment;
    }
    EXPECT_EQ(h.numbers().runs, 0u);
    for (const std::uint64_t bytes : {1u, 16u, 2047u, 2048u}) {
      const std::uint64_t slot = std::max(up_to_16(bytes), least_slot(views));
      EXPECT_EQ(allocate(h, table, bytes).value().bytes, views == 1 ? page : slot) << bytes << ", " << views;
    }
    for (const std::uint64_t bytes : {2049u, 4095u, 4096u}) {
      const auto given = h.allocate(bytes).value();
      EXPECT_EQ(given.bytes, page) << "a page of its own";
      EXPECT_EQ(offset_in_page(given.address), 0u);
    }
    EXPECT_EQ(h.allocate(4097).value().bytes, 2 * page);
    EXPECT_EQ(h.plan(2049, 16).why(), QUIRE_NO_MEMORY) << "nobody has to be told of pages";
    EXPECT_TRUE(h.is_valid());
  }
}

/// The objects of Millipage's evaluation.
TEST(minipage_heap_sizes, six_molecules_and_twenty_five_tours_a_page) {
  minipage_heap h{base_address, 64 * mib, 256};
  page_table table{64 * mib};
  for (const auto& [bytes, slot, a_page] :
       {std::array<std::uint64_t, 3>{672, 672, 6}, {148, 160, 25}, {256, 256, 16}, {16, 16, 256}, {2048, 2048, 2}}) {
    const std::uint64_t first = allocate(h, table, bytes).value().address;
    EXPECT_EQ(offset_in_page(first), 0u);
    for (std::uint64_t i = 1; i < 3 * a_page; ++i) {
      EXPECT_EQ(allocate(h, table, bytes).value().address, first + i / a_page * page + i % a_page * slot)
          << bytes << ", " << i;
    }
  }
  EXPECT_TRUE(h.is_valid());
}

TEST(minipage_heap_sizes, every_alignment_for_every_kind_of_size) {
  minipage_heap h{base_address + 5 * page, 1024 * mib, 16};
  page_table table{2048 * mib};
  for (std::uint64_t alignment = 1; alignment <= 2 * mib; alignment *= 2) {
    for (const std::uint64_t bytes :
         {1, 17, 100, 129, 200, 672, 1000, 1025, 2048, 2049, 4096, 4097, 70'000, 3'000'000}) {
      const auto given = allocate(h, table, bytes, alignment);
      ASSERT_TRUE(given.ok()) << bytes << " aligned to " << alignment;
      EXPECT_EQ(given.value().address % std::max<std::uint64_t>(alignment, 16), 0u) << bytes;
      EXPECT_GE(given.value().bytes, bytes);
      EXPECT_EQ(h.size_of(given.value().address).value(), given.value().bytes);
    }
  }
  EXPECT_EQ(allocate(h, table, 672, 16).value().bytes, 672u);
  EXPECT_EQ(allocate(h, table, 672, 256).value().bytes, 768u) << "a multiple of the alignment";
  EXPECT_EQ(allocate(h, table, 1100, 1024).value().bytes, 2048u);
  EXPECT_EQ(allocate(h, table, 16, 4096).value().bytes, page);
  EXPECT_TRUE(h.is_valid());
}

TEST(minipage_heap_chunks, consecutive_slots_share_a_minipage) {
  for (const unsigned views : {16u, 256u}) {
    for (unsigned chunk = 1; chunk <= largest_chunk; ++chunk) {
      for (const std::uint64_t bytes : {16u, 64u, 160u, 672u, 1024u, 1040u, 2048u}) {
        minipage_heap h{base_address, 4 * mib, views};
        page_table table{4 * mib};
        h.set_chunk(chunk);
        const std::uint64_t slot = std::max(bytes, up_to_16((least_slot(views) + chunk - 1) / chunk)),
                            together = slot * chunk;
        const std::uint64_t minipage = together <= largest_minipage_bytes ? together : 0;
        const std::uint64_t a_page = minipage != 0 ? page / minipage * chunk : page / slot;
        const auto given = allocate(h, table, bytes).value();
        ASSERT_EQ(given.bytes, slot) << bytes << ", chunk " << chunk;
        ASSERT_EQ(table.minipage_of(given.address), minipage);
        ASSERT_EQ(offset_in_page(given.address), 0u);
        ASSERT_TRUE(minipage == 0 || page / minipage <= views);
        for (std::uint64_t i = 1; i <= a_page; ++i) {
          const std::uint64_t in_page = i % a_page, place = minipage != 0
                                                                ? in_page / chunk * minipage + in_page % chunk * slot
                                                                : in_page * slot;
          ASSERT_EQ(allocate(h, table, bytes).value().address, given.address + i / a_page * page + place)
              << bytes << ", chunk " << chunk << ", " << i;
        }
        ASSERT_TRUE(h.is_valid()) << chunk;
      }
    }
  }
}

TEST(minipage_heap_chunks, a_change_is_for_spans_to_come) {
  minipage_heap h{base_address, 64 * mib, 16};
  page_table table{64 * mib};
  const std::uint64_t one = allocate(h, table, 672).value().address;
  h.set_chunk(3);
  const std::uint64_t three = allocate(h, table, 672).value().address;
  EXPECT_NE(one / page, three / page);
  EXPECT_EQ(table.minipage_of(one), 672u);
  EXPECT_EQ(table.minipage_of(three), 2016u);
  h.set_chunk(4);
  EXPECT_EQ(table.minipage_of(allocate(h, table, 672).value().address), 0u) << "2688 bytes: the page";
  h.set_chunk(1);
  EXPECT_EQ(allocate(h, table, 672).value().address, one + 672) << "the first span has room";
  ASSERT_TRUE(h.release(three).ok());
  h.set_chunk(3);
  EXPECT_EQ(allocate(h, table, 672).value().address, three);
  EXPECT_EQ(table.spans, 2u);
  EXPECT_TRUE(h.is_valid());
}

// ---- Announcements --------------------------------------------------------------------------------------------------

TEST(minipage_heap_plans, nothing_is_handed_out_before_its_plan_is_settled) {
  minipage_heap h{base_address, 64 * mib, 16};
  EXPECT_EQ(h.allocate(672).why(), QUIRE_BUSY);
  const auto planned = h.plan(672, 16);
  ASSERT_TRUE(planned.ok());
  EXPECT_EQ(planned.value().minipage_bytes, 672u);
  EXPECT_EQ(planned.value().pages, 16u);
  EXPECT_EQ(h.allocate(672).why(), QUIRE_BUSY);
  EXPECT_EQ(h.plan(672, 16).why(), QUIRE_BUSY) << "somebody has it";
  EXPECT_EQ(h.plan(660, 16).why(), QUIRE_BUSY) << "the same slots";
  const auto other = h.plan(680, 16);
  ASSERT_TRUE(other.ok()) << "others need not wait";
  EXPECT_EQ(other.value().address, planned.value().address + 16 * page);
  for (std::uint64_t at = planned.value().address; at < other.value().address + 16 * page; at += 16) {
    ASSERT_EQ(h.release(at), QUIRE_BAD_ADDRESS);
    ASSERT_EQ(h.size_of(at).why(), QUIRE_BAD_ADDRESS);
  }
  EXPECT_TRUE(h.is_valid());
  h.settle(other.value(), true);
  EXPECT_EQ(h.allocate(680).value().address, other.value().address);
  EXPECT_EQ(h.allocate(672).why(), QUIRE_BUSY);
  h.settle(planned.value(), true);
  EXPECT_EQ(h.allocate(672).value().address, planned.value().address);
  EXPECT_TRUE(h.is_valid());
}

/// Some nodes may have been told: so the pages are to be the same when they are told again.
TEST(minipage_heap_plans, what_could_not_be_announced_is_planned_again) {
  minipage_heap h{base_address, 64 * mib, 16};
  const auto planned = h.plan(300, 16).value();
  h.settle(planned, false);
  EXPECT_EQ(h.allocate(300).why(), QUIRE_BUSY);
  EXPECT_TRUE(h.is_valid());
  const std::uint64_t large = h.allocate(page).value().address;
  EXPECT_GE(large, planned.address + planned.pages * page) << "it is no page run either";
  const auto again = h.plan(300, 16).value();
  EXPECT_EQ(again.address, planned.address);
  EXPECT_EQ(again.pages, planned.pages);
  EXPECT_EQ(again.minipage_bytes, planned.minipage_bytes);
  h.settle(again, true);
  EXPECT_EQ(h.allocate(300).value().address, planned.address);
  EXPECT_TRUE(h.is_valid());
}

TEST(minipage_heap_plans, spans_grow_to_2_mib_and_are_small_in_a_small_range) {
  minipage_heap h{base_address, gib, 16};
  page_table table{gib};
  std::set<std::uint64_t> sizes;
  for (int i = 0; i < 100'000; ++i) {
    auto given = h.allocate(512);
    if (given.why() != QUIRE_BUSY) continue;
    const auto planned = h.plan(512, 16).value();
    sizes.insert(planned.pages);
    table.lay(planned);
    h.settle(planned, true);
  }
  EXPECT_EQ(sizes, (std::set<std::uint64_t>{16, 32, 64, 128, 256, 512}));
  minipage_heap small{base_address, mib, 16};
  EXPECT_EQ(small.plan(512, 16).value().pages, 4u);
  minipage_heap one{base_address, page, 16};
  EXPECT_EQ(one.plan(512, 16).value().pages, 1u);
}

/// What was a page, or a minipage, stays that: layouts never change.
TEST(minipage_heap_plans, pages_that_were_handed_out_do_not_become_minipages_nor_minipages_pages) {
  minipage_heap h{base_address, 4 * mib, 16};
  page_table table{4 * mib};
  const std::uint64_t large = h.allocate(2 * mib).value().address;
  ASSERT_TRUE(h.release(large).ok());
  const std::uint64_t small = allocate(h, table, 500).value().address;
  EXPECT_GE(small, large + 2 * mib);
  ASSERT_TRUE(h.release(small).ok());
  EXPECT_EQ(h.allocate(4 * mib - 2 * mib + page).why(), QUIRE_NO_MEMORY);
  EXPECT_EQ(allocate(h, table, 500).value().address, small) << "the span is still there";
  EXPECT_EQ(table.spans, 1u);
  EXPECT_TRUE(h.is_valid());
}

TEST(minipage_heap_plans, no_memory_for_metadata_is_an_error_that_leaves_the_heap_whole) {
  int budget = 0;
  bool failed = true;
  for (; failed && budget < 60; ++budget) {
    minipage_heap h{base_address, 8 * mib, 16};
    page_table table{8 * mib};
    std::vector<std::uint64_t> live;
    failed = false;
    for (const std::uint64_t bytes : {100, 2048, 9000, 672, 4096, 100}) {
      allocations_left = budget;
      auto given = h.allocate(bytes);
      bool planned = true;
      if (given.why() == QUIRE_BUSY) {
        const auto plan = h.plan(bytes, 16);
        planned = plan.ok();
        allocations_left = -1;
        if (planned) {
          table.lay(plan.value());
          h.settle(plan.value(), true);
          given = h.allocate(bytes);
        } else {
          EXPECT_EQ(plan.why(), QUIRE_NO_MEMORY);
        }
      }
      allocations_left = -1;
      failed = failed || !given.ok();
      if (given.ok()) live.push_back(given.value().address);
      EXPECT_TRUE(h.is_valid());
    }
    for (const std::uint64_t address : live) EXPECT_TRUE(h.release(address).ok());
    EXPECT_TRUE(h.is_valid());
  }
  EXPECT_GT(budget, 3);
  EXPECT_FALSE(failed);
}

// ---- Use ------------------------------------------------------------------------------------------------------------

TEST(minipage_heap_use, only_the_start_of_a_live_allocation_can_be_freed) {
  minipage_heap h{base_address, 64 * mib, 16};
  page_table table{64 * mib};
  const std::uint64_t small = allocate(h, table, 672).value().address, large = h.allocate(3 * page).value().address;
  for (const std::uint64_t offset : {1, 8, 16, 671, 672, 5 * 672, 6 * 672, 4096, 4096 + 672}) {
    EXPECT_EQ(h.release(small + offset), QUIRE_BAD_ADDRESS) << offset;
    EXPECT_EQ(h.try_resize(small + offset, 1), QUIRE_BAD_ADDRESS) << offset;
  }
  for (const std::uint64_t offset : {1, 16, 4096, 8192})
    EXPECT_EQ(h.release(large + offset), QUIRE_BAD_ADDRESS) << offset;
  for (const std::uint64_t address :
       {std::uint64_t{0}, UINT64_MAX, base_address - page, base_address + 64 * mib, base_address + 32 * mib}) {
    EXPECT_EQ(h.release(address), QUIRE_BAD_ADDRESS);
  }
  for (const std::uint64_t address : {small, large}) {
    EXPECT_TRUE(h.release(address).ok());
    EXPECT_EQ(h.release(address), QUIRE_BAD_ADDRESS) << "double free";
  }
  EXPECT_EQ(h.numbers().live_bytes, 0u);
  EXPECT_EQ(h.numbers().live_objects, 0u);
  EXPECT_TRUE(h.is_valid());
}

TEST(minipage_heap_use, the_allocation_around_a_byte) {
  minipage_heap h{base_address, 64 * mib, 16};
  page_table table{64 * mib};
  std::set<std::uint64_t> all;
  for (unsigned i = 0; i < 7; ++i) all.insert(allocate(h, table, 660).value().address);
  for (const std::uint64_t address : all) {
    for (const std::uint64_t offset : {0, 1, 671}) {
      const auto found = h.around(address + offset);
      ASSERT_TRUE(found.ok()) << offset;
      EXPECT_EQ(found.value().address, address);
      EXPECT_EQ(found.value().bytes, 672u);
    }
  }
  EXPECT_EQ(h.around(*all.begin() + 6 * 672).why(), QUIRE_BAD_ADDRESS) << "what is left at the end of a page";
  const std::uint64_t large = h.allocate(3 * page).value().address;
  EXPECT_EQ(h.around(large + 2 * page + 5).value().address, large);
  EXPECT_EQ(h.around(large + 2 * page + 5).value().bytes, 3 * page);
  EXPECT_EQ(h.around(base_address - 1).why(), QUIRE_BAD_ADDRESS);
  EXPECT_EQ(h.around(base_address + 32 * mib).why(), QUIRE_BAD_ADDRESS);
}

TEST(minipage_heap_use, resize_where_it_stands) {
  minipage_heap h{base_address, 64 * page, 16};
  page_table table{64 * page};
  const std::uint64_t small = allocate(h, table, 300).value().address;
  EXPECT_EQ(h.size_of(small).value(), 304u);
  EXPECT_TRUE(h.try_resize(small, 304).ok());
  EXPECT_EQ(h.try_resize(small, 305), QUIRE_NO_MEMORY);
  EXPECT_TRUE(h.try_resize(small, 1).ok());
  EXPECT_EQ(h.size_of(small).value(), 304u);
  const std::uint64_t large = h.allocate(3 * page).value().address;
  EXPECT_TRUE(h.try_resize(large, 10 * page).ok());
  EXPECT_EQ(h.size_of(large).value(), 10 * page);
  EXPECT_TRUE(h.try_resize(large, 1).ok());
  EXPECT_EQ(h.size_of(large).value(), page);
  EXPECT_EQ(h.try_resize(large, 0), QUIRE_INVALID);
  EXPECT_EQ(h.try_resize(small, SIZE_MAX), QUIRE_INVALID);
  EXPECT_EQ(h.numbers().live_bytes, page + 304);
  EXPECT_TRUE(h.is_valid());
}

TEST(minipage_heap_use, fresh_memory_is_told_from_used_memory) {
  minipage_heap h{base_address, 64 * mib, 16};
  page_table table{64 * mib};
  const auto first = allocate(h, table, 672).value();
  EXPECT_EQ(first.dirty_bytes, 0u);
  ASSERT_TRUE(h.release(first.address).ok());
  const auto again = allocate(h, table, 600 + 72).value();
  EXPECT_EQ(again.address, first.address);
  EXPECT_EQ(again.dirty_bytes, 672u);
  EXPECT_EQ(allocate(h, table, 672).value().dirty_bytes, 0u) << "the slot behind was never handed out";
  // Page units, of pages that large objects had, and of others.
  const auto large = h.allocate(3 * page).value();
  ASSERT_TRUE(h.release(large.address).ok());
  h.set_chunk(100);
  for (std::uint64_t i = 0; i < 3 * 6; ++i) {
    const auto slot = allocate(h, table, 672).value();
    EXPECT_EQ(slot.address, large.address + i / 6 * page + i % 6 * 672);
    EXPECT_EQ(slot.dirty_bytes, 672u);
  }
  EXPECT_EQ(allocate(h, table, 672).value().dirty_bytes, 0u);
}

TEST(minipage_heap_use, exhausted_then_freed_then_used_again) {
  for (const std::uint64_t bytes : {16, 48, 672, 1376, 2048, 2049, 12'288}) {
    const std::uint64_t size = 2 * mib + 20 * kib;
    for (const unsigned views : {1u, 2u, 16u, 256u}) {
      minipage_heap h{base_address, size, views};
      page_table table{size};
      const std::uint64_t slot = std::max(up_to_16(bytes), least_slot(views));
      const std::uint64_t slots =
          slot <= largest_minipage_bytes ? size / page * (page / slot) : size / (((bytes + page - 1) / page) * page);
      for (int round = 0; round < 3; ++round) {
        std::vector<std::uint64_t> live;
        auto given = allocate(h, table, bytes);
        for (; given.ok(); given = allocate(h, table, bytes)) live.push_back(given.value().address);
        EXPECT_EQ(given.why(), QUIRE_NO_MEMORY);
        EXPECT_EQ(live.size(), slots) << bytes << ", " << views;
        EXPECT_TRUE(h.is_valid());
        ASSERT_TRUE(h.release(live[live.size() / 2]).ok());
        EXPECT_EQ(allocate(h, table, bytes).value().address, live[live.size() / 2]);
        EXPECT_FALSE(allocate(h, table, bytes).ok());
        for (const std::uint64_t address : live) ASSERT_TRUE(h.release(address).ok());
        EXPECT_EQ(h.numbers().live_objects, 0u);
        EXPECT_EQ(h.numbers().live_bytes, 0u);
      }
    }
  }
}

/// Large objects have had all pages: small ones are slots of such pages then, which nobody has to be told of.
TEST(minipage_heap_use, without_a_fresh_page_small_objects_share_pages) {
  minipage_heap h{base_address, mib, 16};
  page_table table{mib};
  const std::uint64_t all = h.allocate(mib).value().address;
  EXPECT_EQ(allocate(h, table, 672).why(), QUIRE_NO_MEMORY);
  ASSERT_TRUE(h.release(all).ok());
  std::uint64_t count = 0;
  for (auto given = allocate(h, table, 672); given.ok(); given = allocate(h, table, 672), ++count) {
    ASSERT_EQ(given.value().bytes, 672u);
    ASSERT_EQ(offset_in_page(given.value().address) % 672, 0u);
  }
  EXPECT_EQ(count, 256u * 6);
  EXPECT_EQ(table.spans, 0u);
  EXPECT_TRUE(h.is_valid());
}

}  // namespace
}  // namespace quire::heap::minipage_heap_test
