// SPDX-License-Identifier: BSD-3-Clause
// Small objects keep away from pages that other nodes use, lose no memory by that, and come back when the others'
// objects are gone.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "heap_support.hpp"
#include "region/contested_pages.hpp"

namespace quire::heap::heap_contest_test {
namespace {

struct told final : page_contest {
  std::set<std::uint64_t> pages{};
  bool is_on(std::uint64_t address) noexcept override {
    EXPECT_EQ(address % page, 0u);
    return pages.contains(address);
  }
  void is_over(std::uint64_t first, std::uint64_t bytes) noexcept override {
    for (std::uint64_t at = first; at < first + bytes; at += page) pages.erase(at);
  }
};

std::uint64_t address_of(const base::result<allocation>& got) {
  EXPECT_TRUE(got.ok());
  return got.value().address;
}

TEST(contested_heap, new_objects_go_to_other_pages) {
  told contest;
  heap h(base_address, 64 * mib, page);
  h.avoid(&contest);
  const std::uint64_t first = address_of(h.allocate(48)), second = address_of(h.allocate(48));
  EXPECT_EQ(first / page, second / page);
  contest.pages.insert(first / page * page);
  const std::uint64_t third = address_of(h.allocate(48));
  EXPECT_NE(third / page, first / page);
  EXPECT_TRUE(h.release(second).ok());
  EXPECT_EQ(h.size_of(second).why().code(), QUIRE_BAD_ADDRESS);
  EXPECT_EQ(h.release(second).code(), QUIRE_BAD_ADDRESS);
  EXPECT_NE(address_of(h.allocate(48)), second) << "free, and beside what others use";
  EXPECT_EQ(h.release(second).code(), QUIRE_BAD_ADDRESS) << "what is set apart is free";
  EXPECT_TRUE(h.is_valid());
  EXPECT_EQ(h.numbers().live_objects, 3u);
}

TEST(contested_heap, objects_that_reach_into_the_page_are_avoided_too) {
  told contest;
  heap h(base_address, 64 * mib, page);
  h.avoid(&contest);
  std::uint64_t at = address_of(h.allocate(1536));  // 0 to 1535, 1536 to 3071, 3072 to 4607
  (void)address_of(h.allocate(1536));
  contest.pages.insert(at + page);
  at = address_of(h.allocate(1536));
  EXPECT_GE(at, base_address + 2 * page);
  EXPECT_TRUE(h.is_valid());
}

TEST(contested_heap, pages_come_back_with_their_spans) {
  told contest;
  heap h(base_address, 64 * mib, page);
  h.avoid(&contest);
  const std::uint64_t first = address_of(h.allocate(64)), other = address_of(h.allocate(64));
  contest.pages.insert(first / page * page);
  const std::uint64_t third = address_of(h.allocate(64));
  for (const std::uint64_t one : {other, third, first}) EXPECT_TRUE(h.release(one).ok());
  EXPECT_TRUE(contest.pages.empty()) << "nothing lives there: it is over";
  EXPECT_EQ(address_of(h.allocate(64)), first);
  EXPECT_TRUE(h.release(first).ok());
  expect_all_free(h, 64 * mib);
}

TEST(contested_heap, a_full_heap_uses_them_all_the_same) {
  told contest;
  constexpr std::uint64_t bytes = 64 * kib, size = 64;
  heap h(base_address, bytes, page);
  h.avoid(&contest);
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < bytes / size; ++i) {
    all.push_back(address_of(h.allocate(size)));
    if (i % 5 == 1) contest.pages.insert(all.back() / page * page);
  }
  EXPECT_FALSE(h.allocate(size).ok());
  EXPECT_EQ(std::set<std::uint64_t>(all.begin(), all.end()).size(), bytes / size);
  EXPECT_TRUE(h.is_valid());
}

TEST(contested_heap, a_long_run_keeps_its_books) {
  told contest;
  heap h(base_address, 16 * mib, page);
  h.avoid(&contest);
  std::mt19937_64 r(7);
  std::map<std::uint64_t, std::uint64_t> live;
  for (unsigned step = 0; step < 200'000; ++step) {
    const std::uint64_t bytes = 1 + r() % 700;
    if (live.size() < 300 || r() % 2 == 0) {
      const auto got = h.allocate(bytes);
      ASSERT_TRUE(got.ok());
      const auto next = live.lower_bound(got.value().address);
      ASSERT_TRUE(next == live.end() || next->first >= got.value().address + got.value().bytes);
      ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= got.value().address);
      live[got.value().address] = got.value().bytes;
      if (r() % 64 == 0) contest.pages.insert(got.value().address / page * page);
    } else {
      const auto one = std::next(live.begin(), static_cast<std::ptrdiff_t>(r() % live.size()));
      ASSERT_TRUE(h.release(one->first).ok());
      live.erase(one);
    }
    ASSERT_TRUE(step % 5000 != 0 || h.is_valid());
  }
  std::vector<std::uint64_t> words;
  h.save(words);
  heap again(base_address, 16 * mib, page);
  std::span<const std::uint64_t> rest(words);
  ASSERT_TRUE(again.load(rest));
  EXPECT_EQ(again.numbers().live_objects, live.size());
  EXPECT_TRUE(again.is_valid());
  for (const auto& [address, bytes] : live) EXPECT_TRUE(h.release(address).ok());
  expect_all_free(h, 16 * mib);
}

TEST(contested_pages, those_that_threads_wait_for_often) {
  core::hot_units hot;
  region::contested_pages contest(hot, 3, base_address, page);
  const auto wait = [&hot](std::uint64_t unit, std::uint64_t times) {
    while (times-- != 0) hot.add(3, unit, true, 10);
  };
  wait(5, region::contested_pages::many - 1);
  EXPECT_FALSE(contest.is_on(base_address + 5 * page));
  wait(5, 1);
  EXPECT_TRUE(contest.is_on(base_address + 5 * page));
  EXPECT_FALSE(contest.is_on(base_address + 6 * page));
  contest.is_over(base_address + 4 * page, 2 * page);
  EXPECT_FALSE(contest.is_on(base_address + 5 * page)) << "what lived there is gone";
  wait(5, region::contested_pages::many);
  EXPECT_TRUE(contest.is_on(base_address + 5 * page));
}

}  // namespace
}  // namespace quire::heap::heap_contest_test
