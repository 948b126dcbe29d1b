// SPDX-License-Identifier: BSD-3-Clause
// A heap that goes into a checkpoint and comes back: it behaves as the one that was saved.
#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "heap_support.hpp"
#include "minipage_heap_support.hpp"

namespace quire::heap::heap_saved_test {
namespace {

using words = std::vector<std::uint64_t>;

/// Random calls; what is live afterwards, address and usable bytes.
std::vector<std::pair<std::uint64_t, std::uint64_t>> use(heap& h, unsigned seed, int calls) {
  std::mt19937 random(seed);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> live;
  for (int i = 0; i < calls; ++i) {
    if (random() % 5 < 3 || live.empty()) {
      const std::uint64_t bytes = random() % 4 == 0 ? 1 + random() % (20 * page) : 1 + random() % 500;
      const auto given = h.allocate(bytes, random() % 8 == 0 ? 4096u << random() % 4 : 16);
      if (given.ok()) live.emplace_back(given.value().address, given.value().bytes);
    } else {
      const std::size_t which = random() % live.size();
      EXPECT_TRUE(h.release(live[which].first).ok());
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  return live;
}

words saved(const allocator& h) {
  words all;
  h.save(all);
  return all;
}

TEST(saved_heap, goes_on_as_the_one_that_was_saved) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::uint64_t unit = seed % 3 == 0 ? 64 * kib : page;
    heap before{base_address, 64 * mib, unit};
    const auto live = use(before, seed, 400);
    const words all = saved(before);
    std::span<const std::uint64_t> left(all);
    heap after{base_address, 64 * mib, unit};
    ASSERT_TRUE(after.load(left)) << seed;
    EXPECT_TRUE(left.empty());
    ASSERT_TRUE(after.is_valid()) << seed;
    EXPECT_EQ(saved(after), all);
    EXPECT_EQ(after.numbers().live_bytes, before.numbers().live_bytes);
    for (const auto& [address, bytes] : live) EXPECT_EQ(after.size_of(address).value(), bytes);
    // The same calls give the same addresses, and know alike what was handed out before.
    std::mt19937 random(seed + 1000);
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t bytes = 1 + random() % (random() % 3 == 0 ? 9 * page : 300);
      const auto a = before.allocate(bytes), b = after.allocate(bytes);
      ASSERT_EQ(a.ok(), b.ok());
      ASSERT_EQ(a.value().address, b.value().address);
      ASSERT_EQ(a.value().dirty_bytes, b.value().dirty_bytes);
    }
    for (const auto& [address, bytes] : live) ASSERT_TRUE(after.release(address).ok());
    EXPECT_TRUE(after.is_valid());
  }
}

TEST(saved_heap, loads_into_a_range_of_another_length_that_reaches_as_far_as_it_was_used) {
  heap before{base_address, 64 * mib, page};
  const auto live = use(before, 7, 500);
  const words all = saved(before);
  const std::uint64_t used = before.numbers().reached_bytes;
  for (const std::uint64_t size : {used, used + page, 4 * gib}) {
    std::span<const std::uint64_t> left(all);
    heap after{base_address, size, page};
    ASSERT_TRUE(after.load(left)) << size;
    EXPECT_TRUE(after.is_valid());
    for (const auto& [address, bytes] : live) EXPECT_TRUE(after.release(address).ok());
    expect_all_free(after, size);
  }
  std::span<const std::uint64_t> left(all);
  heap short_one{base_address, used - page, page};
  EXPECT_FALSE(short_one.load(left));
  std::span<const std::uint64_t> again(all);
  heap elsewhere{base_address + 64 * mib, 64 * mib, page};
  EXPECT_FALSE(elsewhere.load(again));
}

TEST(saved_heap, tells_its_extent_and_its_length_without_being_loaded) {
  heap first{base_address, 64 * mib, page}, second{base_address + 64 * mib, 32 * mib, page};
  (void)use(first, 3, 300);
  words all;
  first.save(all);
  second.save(all);
  std::span<const std::uint64_t> left(all);
  saved_extent about;
  ASSERT_TRUE(skip_saved(left, about));
  EXPECT_EQ(about.base, base_address);
  EXPECT_EQ(about.end, base_address + 64 * mib);
  EXPECT_EQ(about.reached_end, base_address + first.numbers().reached_bytes);
  ASSERT_TRUE(skip_saved(left, about));
  EXPECT_EQ(about.base, base_address + 64 * mib);
  EXPECT_EQ(about.reached_end, about.base);
  EXPECT_TRUE(left.empty());
  EXPECT_FALSE(skip_saved(left, about));
}

/// Checksums keep such words away; what comes through must do no harm all the same.
TEST(saved_heap, words_that_make_no_sense_are_refused_or_make_a_valid_heap) {
  heap before{base_address, 64 * mib, page};
  (void)use(before, 11, 200);
  const words all = saved(before);
  std::mt19937_64 random(5);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    words bad = all;
    if (i % 3 == 0) bad.resize(random() % bad.size());
    if (i % 3 == 1) bad[random() % bad.size()] ^= std::uint64_t{1} << random() % 64;
    if (i % 3 == 2) bad[random() % bad.size()] = random();
    std::span<const std::uint64_t> left(bad), same(bad);
    heap after{base_address, 64 * mib, page};
    saved_extent about;
    (void)skip_saved(same, about);
    if (after.load(left)) {
      ASSERT_TRUE(after.is_valid()) << i;
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

// ---- Heaps with minipages

struct object {
  std::uint64_t address = 0, bytes = 0, minipage = 0;
};

std::vector<object> use(minipage_heap& h, page_table& told, unsigned seed, int calls) {
  std::mt19937 random(seed);
  std::vector<object> live;
  for (int i = 0; i < calls; ++i) {
    if (random() % 40 == 0) h.set_chunk(1 + random() % 5);
    if (random() % 5 < 3 || live.empty()) {
      const std::uint64_t bytes = random() % 6 == 0 ? 1 + random() % (9 * page) : 1 + random() % 700;
      const auto given = allocate(h, told, bytes);
      if (given.ok())
        live.push_back({given.value().address, given.value().bytes, told.minipage_of(given.value().address)});
    } else {
      const std::size_t which = random() % live.size();
      EXPECT_TRUE(h.release(live[which].address).ok());
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  return live;
}

/// What nodes are told of at a restart is what they knew before; and what lives, lives.
TEST(saved_minipage_heap, goes_on_as_the_one_that_was_saved) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const std::uint64_t size = seed % 4 == 0 ? 2 * mib : 64 * mib;
    const unsigned views = seed % 3 == 0 ? 256 : 16;
    const bool guards = seed % 5 == 4;
    minipage_heap before{base_address, size, views, guards};
    page_table told{size}, told_again{size};
    const auto live = use(before, told, seed, seed % 4 == 0 ? 1'500 : 400);
    const auto planned = before.plan(1 + seed * 31 % 2000, 16);  // on its way to the others
    const words all = saved(before);
    std::span<const std::uint64_t> left(all), same(all);
    saved_extent about;
    ASSERT_TRUE(skip_saved(same, about));
    EXPECT_TRUE(same.empty());
    for (const span_plan& cut : about.cuts) told_again.lay(cut);
    minipage_heap after{base_address, size, views, guards != (seed % 10 == 9)};
    ASSERT_TRUE(after.load(left));
    EXPECT_TRUE(left.empty());
    ASSERT_TRUE(after.is_valid());
    EXPECT_EQ(saved(after), all);
    EXPECT_EQ(after.numbers().live_bytes, before.numbers().live_bytes);
    EXPECT_EQ(after.numbers().live_objects, live.size());
    for (const object& o : live) {
      EXPECT_EQ(after.size_of(o.address).value(), o.bytes);
      EXPECT_EQ(told_again.minipage_of(o.address), o.minipage);
    }
    if (planned.ok()) {
      EXPECT_EQ(told_again.minipage_of(planned.value().address), planned.value().minipage_bytes);
    }
    const auto more = use(after, told_again, seed + 500, 300);
    for (const auto& some : {live, more}) {
      for (const object& o : some) ASSERT_TRUE(after.release(o.address).ok());
    }
    EXPECT_TRUE(after.is_valid());
    EXPECT_EQ(after.numbers().live_objects, 0u);
  }
}

TEST(saved_minipage_heap, is_for_heaps_of_its_kind_and_place) {
  minipage_heap before{base_address, 64 * mib, 256};
  page_table told{64 * mib};
  (void)allocate(before, told, 20);
  const words all = saved(before);
  const auto loads = [&](allocator&& h) {
    std::span<const std::uint64_t> left(all);
    return h.load(left);
  };
  EXPECT_TRUE(loads(minipage_heap{base_address, 64 * mib, 256}));
  EXPECT_FALSE(loads(minipage_heap{base_address, 64 * mib, 16}));  // which cannot show so small ones
  EXPECT_FALSE(loads(minipage_heap{base_address + page, 64 * mib, 256}));
  EXPECT_FALSE(loads(heap{base_address, 64 * mib, page}));
}

TEST(saved_minipage_heap, words_that_make_no_sense_are_refused_or_make_a_valid_heap) {
  minipage_heap before{base_address, 64 * mib, 64};
  page_table told{64 * mib};
  (void)use(before, told, 11, 300);
  const words all = saved(before);
  std::mt19937_64 random(5);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    words bad = all;
    if (i % 3 == 0) bad.resize(random() % bad.size());
    if (i % 3 == 1) bad[random() % bad.size()] ^= std::uint64_t{1} << random() % 64;
    if (i % 3 == 2) bad[random() % bad.size()] = random();
    std::span<const std::uint64_t> left(bad), same(bad);
    minipage_heap after{base_address, 64 * mib, 64};
    saved_extent about;
    (void)skip_saved(same, about);
    if (after.load(left)) {
      ASSERT_TRUE(after.is_valid()) << i;
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace quire::heap::heap_saved_test
