// SPDX-License-Identifier: BSD-3-Clause
// Long random runs of heaps with minipages against a model, and with many threads.
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

namespace quire::heap::minipage_heap_model_test {
namespace {

/// Random operations in waves; the model knows what is live, and what each page is. No two live objects of different
/// minipages overlap, a page has one size of minipages for ever, and an object lies in one minipage. With guards it is
/// the end of a page, and nothing lies on the next one.
void stress(std::uint64_t seed, unsigned views, std::uint64_t size, int operations, bool guards = false) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", views " << views);
  minipage_heap h{base_address, size, views, guards};
  page_table table{size};
  std::mt19937_64 random{seed};
  std::map<std::uint64_t, std::uint64_t> live;
  std::vector<std::uint64_t> addresses;
  std::vector<bool> used(size / 16, false);
  std::uint64_t live_bytes = 0;
  int refused = 0;
  const auto size_now = [&] {
    return random() % 10 != 0 ? 1 + random() % (random() % 2 == 0 ? 300 : 2048) : 1 + random() % (64 * kib);
  };
  const auto note = [&](const allocation& given, std::uint64_t bytes, std::uint64_t alignment) {
    const std::uint64_t address = given.address, usable = given.bytes, dirty = given.dirty_bytes;
    ASSERT_GE(usable, bytes);
    ASSERT_EQ(address % std::max<std::uint64_t>(alignment, 16), 0u);
    ASSERT_TRUE(address >= base_address && address + usable <= base_address + size);
    const auto next = live.lower_bound(address);
    ASSERT_TRUE(next == live.end() || address + usable <= next->first) << "overlap";
    if (next != live.begin()) {
      ASSERT_LE(std::prev(next)->first + std::prev(next)->second, address) << "overlap";
    }
    const std::uint64_t minipage = table.minipage_of(address), in_page = offset_in_page(address);
    if (minipage != 0) {
      const std::uint64_t last = page / minipage - 1;
      ASSERT_EQ(std::min(in_page / minipage, last), std::min((in_page + usable - 1) / minipage, last))
          << "an object of two minipages";
      if (guards) {
        ASSERT_EQ(in_page + usable, page);
        ASSERT_EQ(table.minipage_of(address + usable), minipage) << "another view may show something behind it";
        ASSERT_TRUE(next == live.end() || address + usable + page <= next->first);
      } else {
        ASSERT_LE((in_page / minipage + 1) * minipage, page) << "beyond the last minipage";
      }
      ASSERT_LE(page / minipage, views);
    } else {
      for (std::uint64_t at = address; at < address + usable; at += page) ASSERT_EQ(table.minipage_of(at), 0u);
      ASSERT_TRUE(usable >= page || in_page + usable <= page) << "a small object crosses a page";
    }
    for (std::uint64_t at = (address - base_address + dirty) / 16; at < (address - base_address + usable) / 16; ++at) {
      ASSERT_FALSE(used[at]) << "called fresh, but was handed out before";
    }
    std::fill_n(used.begin() + static_cast<std::ptrdiff_t>((address - base_address) / 16), usable / 16, true);
    live_bytes += usable;
    live[address] = usable;
    addresses.push_back(address);
  };
  const auto take_any = [&] {
    std::swap(addresses[random() % addresses.size()], addresses.back());
    const std::uint64_t address = addresses.back();
    addresses.pop_back();
    live_bytes -= live[address];
    live.erase(address);
    return address;
  };
  for (int i = 0; i < operations && !testing::Test::HasFatalFailure(); ++i) {
    const bool filling = i * 20L / operations % 2 == 0;
    const auto what = random() % 100;
    if (random() % 2000 == 0)
      h.set_chunk(static_cast<unsigned>(1 + random() % (random() % 4 == 0 ? largest_chunk : 4)));
    if (addresses.empty() || what < (filling ? 60 : 35)) {
      const std::uint64_t bytes = size_now(), alignment = random() % 4 != 0 ? 16 : std::uint64_t{1} << random() % 14;
      const auto given = allocate(h, table, bytes, alignment);
      if (given.ok()) {
        note(given.value(), bytes, alignment);
      } else {
        ASSERT_EQ(given.why(), QUIRE_NO_MEMORY);
        ++refused;
      }
    } else if (what < 92) {
      const std::uint64_t address = take_any();
      ASSERT_TRUE(h.release(address).ok());
      ASSERT_EQ(h.release(address), QUIRE_BAD_ADDRESS) << "double free";
    } else {
      const std::uint64_t address = addresses[random() % addresses.size()], bytes = size_now();
      const bool done = h.try_resize(address, bytes).ok();
      const std::uint64_t after = h.size_of(address).value();
      const auto next = live.upper_bound(address);
      ASSERT_TRUE(done ? after >= bytes : after == live[address]);
      ASSERT_TRUE(next == live.end() || address + after <= next->first) << "grown over its neighbour";
      live_bytes += after - live[address];
      live[address] = after;
      std::fill_n(used.begin() + static_cast<std::ptrdiff_t>((address - base_address) / 16), after / 16, true);
    }
    if (i % 2'000 == 0) {
      ASSERT_TRUE(h.is_valid()) << i;
      ASSERT_EQ(h.numbers().live_bytes, live_bytes);
      ASSERT_EQ(h.numbers().live_objects, live.size());
    }
  }
  EXPECT_GT(refused, 0) << "the run never filled the heap";
  while (!addresses.empty()) ASSERT_TRUE(h.release(take_any()).ok());
  ASSERT_TRUE(h.is_valid());
  EXPECT_EQ(h.numbers().live_bytes, 0u);
}

TEST(minipage_heap_stress, one_view) { stress(1, 1, 16 * mib, 100'000); }
TEST(minipage_heap_stress, two_views) { stress(2, 2, 16 * mib, 100'000); }
TEST(minipage_heap_stress, sixteen_views) { stress(3, 16, 16 * mib, 300'000); }
TEST(minipage_heap_stress, two_hundred_and_fifty_six_views) { stress(4, 256, 16 * mib, 300'000); }

TEST(minipage_heap_stress, objects_with_guards) {
  for (const unsigned views : {1u, 2u, 16u, 256u}) stress(5 + views, views, 4 * mib, 30'000, true);
}

TEST(minipage_heap_stress, every_step_leaves_a_whole_structure) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    minipage_heap h{base_address, 2 * mib, 16};
    page_table table{2 * mib};
    std::mt19937_64 random{seed};
    std::vector<std::uint64_t> live;
    for (int i = 0; i < 600; ++i) {
      if (i % 50 == 0) h.set_chunk(static_cast<unsigned>(1 + random() % 5));
      if (live.empty() || random() % 100 < (i / 150 % 2 == 0 ? 75u : 35u)) {
        const auto given =
            allocate(h, table, random() % 4 == 0 ? page * (1 + random() % 10) : 256 * (1 + random() % 4));
        if (given.ok()) live.push_back(given.value().address);
      } else {
        std::swap(live[random() % live.size()], live.back());
        ASSERT_TRUE(h.release(live.back()).ok());
        live.pop_back();
      }
      ASSERT_TRUE(h.is_valid()) << "seed " << seed << ", step " << i;
    }
  }
}

/// Whoever is handed an address finds that its page has been announced; no two have the same; an announcement that
/// fails at first does no harm.
TEST(minipage_heap_stress, threads_get_what_was_announced_and_never_the_same) {
  const std::uint64_t size = 64 * mib;
  minipage_heap h{base_address, size, 64};
  page_table table{size};
  constexpr unsigned threads = 4;
  std::vector<unsigned char> granules(size / 16, 0);  // each written by its owner alone
  std::array<std::uint64_t, threads> damaged{};
  std::atomic<std::uint64_t> failures{0};
  const auto mark = [&](std::uint64_t address, std::uint64_t bytes, unsigned char from, unsigned char to) {
    std::uint64_t wrong = 0;
    for (std::uint64_t at = (address - base_address) / 16; at < (address - base_address + bytes) / 16; ++at) {
      wrong += granules[at] != from;
      granules[at] = to;
    }
    return wrong;
  };
  const auto use = [&](unsigned me) {
    std::mt19937_64 random{me};
    std::vector<std::uint64_t> live;
    const auto name = static_cast<unsigned char>(me + 1);
    for (int i = 0; i < 40'000; ++i) {
      if (live.size() < 400 && random() % 2 == 0) {
        const std::uint64_t bytes = 1 + random() % 1500;
        auto given = h.allocate(bytes);
        while (given.why() == QUIRE_BUSY) {
          const auto planned = h.plan(bytes, 16);
          if (planned.ok() && random() % 3 == 0) {
            ++failures;
            h.settle(planned.value(), false);
          } else if (planned.ok()) {
            table.lay(planned.value());
            h.settle(planned.value(), true);
          } else {
            std::this_thread::yield();
          }
          given = h.allocate(bytes);
        }
        if (!given.ok()) continue;
        damaged[me] += table.minipage_of(given.value().address) != given.value().bytes;
        damaged[me] += mark(given.value().address, given.value().bytes, 0, name);
        live.push_back(given.value().address);
      } else if (!live.empty()) {
        std::swap(live[random() % live.size()], live.back());
        damaged[me] += mark(live.back(), h.size_of(live.back()).value(), name, 0);
        damaged[me] += !h.release(live.back()).ok();
        live.pop_back();
      }
    }
    for (const std::uint64_t address : live) {
      damaged[me] += mark(address, h.size_of(address).value(), name, 0);
      damaged[me] += !h.release(address).ok();
    }
  };
  {
    std::vector<std::jthread> running;
    for (unsigned me = 0; me < threads; ++me) running.emplace_back(use, me);
  }
  EXPECT_TRUE(h.is_valid());
  EXPECT_EQ(damaged, (std::array<std::uint64_t, threads>{}));
  EXPECT_GT(failures, 0u);
  EXPECT_EQ(h.numbers().live_objects, 0u);
}

}  // namespace
}  // namespace quire::heap::minipage_heap_model_test
