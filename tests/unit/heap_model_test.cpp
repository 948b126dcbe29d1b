// SPDX-License-Identifier: BSD-3-Clause
// The shared heap's allocator against models: an array of pages for exhaustive small cases, ordered maps for long
// random runs, marks of their owners for threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "heap_support.hpp"

namespace quire::heap::heap_model_test {
namespace {

// ---- Every sequence of a few operations on a few pages --------------------------------------------------------------

/// What the heap must do with page runs, in the plainest way: an array of owners, searched from the start.
struct page_model {
  static constexpr unsigned pages = 7;
  std::array<int, pages> owner{};  // 0: free
  int serial = 0;
  std::vector<std::pair<int, unsigned>> live;  // owner, first page

  [[nodiscard]] bool is_free(unsigned from, unsigned count) const {
    for (unsigned i = from; i < from + count; ++i) {
      if (i >= pages || owner[i] != 0) return false;
    }
    return true;
  }
  std::optional<unsigned> allocate(unsigned count, unsigned alignment) {
    for (unsigned from = 0; from < pages; from += alignment) {
      if (!is_free(from, count)) continue;
      std::fill_n(owner.begin() + from, count, ++serial);
      live.emplace_back(serial, from);
      return from;
    }
    return std::nullopt;
  }
  unsigned release(unsigned which) {
    const auto [id, from] = live[which];
    std::replace(owner.begin(), owner.end(), id, 0);
    live.erase(live.begin() + which);
    return from;
  }
  bool resize(unsigned which, unsigned count) {
    const auto [id, from] = live[which];
    const auto old_count = static_cast<unsigned>(std::count(owner.begin(), owner.end(), id));
    if (count > old_count && !is_free(from + old_count, count - old_count)) return false;
    std::replace(owner.begin(), owner.end(), id, 0);
    std::fill_n(owner.begin() + from, count, id);
    return true;
  }
};

struct page_request {
  unsigned count, alignment;
};
constexpr std::array<page_request, 4> page_requests{{{1, 1}, {3, 1}, {1, 2}, {2, 4}}};

/// Performs operation `choice` on both, and compares. False if there is no such operation now.
bool perform(heap& h, page_model& model, unsigned choice) {
  if (choice < page_requests.size()) {
    const auto [count, alignment] = page_requests[choice];
    const auto expected = model.allocate(count, alignment);
    const auto given = h.allocate(count * page, alignment * page);
    EXPECT_EQ(given.ok(), expected.has_value());
    if (given.ok() && expected) {
      EXPECT_EQ(given.value().address, base_address + *expected * page);
    }
    return true;
  }
  const unsigned which = (choice - page_requests.size()) / 3;
  if (which >= model.live.size()) return false;
  const std::uint64_t address = base_address + model.live[which].second * page;
  const unsigned what = (choice - page_requests.size()) % 3;
  if (what == 0) {
    model.release(which);
    EXPECT_TRUE(h.release(address).ok());
  } else {
    const unsigned count = what == 1 ? 1 : 3;
    EXPECT_EQ(h.try_resize(address, count * page).ok(), model.resize(which, count));
  }
  return true;
}

/// Runs every sequence that starts with `so_far`; counts them.
void explore(std::vector<unsigned>& so_far, unsigned depth, std::uint64_t& count) {
  heap h{base_address, page_model::pages * page, page};
  page_model model;
  for (const unsigned choice : so_far) {
    if (!perform(h, model, choice)) return;
  }
  ASSERT_TRUE(h.is_valid());
  ++count;
  if (so_far.size() == depth || testing::Test::HasFailure()) return;
  const auto choices = static_cast<unsigned>(page_requests.size() + 3 * model.live.size());
  for (unsigned choice = 0; choice < choices; ++choice) {
    so_far.push_back(choice);
    explore(so_far, depth, count);
    so_far.pop_back();
  }
}

TEST(heap_pages, every_sequence_of_six_operations_takes_the_lowest_run_that_fits) {
  std::vector<unsigned> so_far;
  std::uint64_t count = 0;
  explore(so_far, 6, count);
  EXPECT_GT(count, 100'000u);
}

// ---- Long random runs -----------------------------------------------------------------------------------------------

/// What is live, and which 16-byte granules were ever handed out.
class shadow {
 public:
  explicit shadow(std::uint64_t size) : size_(size), used_before_(size / 16, false) {}

  void on_allocate(const allocation& given, std::uint64_t bytes, std::uint64_t alignment) {
    ASSERT_GE(given.bytes, bytes);
    ASSERT_EQ(given.address % std::max<std::uint64_t>(alignment, 16), 0u);
    if (bytes >= page) {
      ASSERT_EQ(given.address % page, 0u);
    }
    ASSERT_GE(given.address, base_address);
    ASSERT_LE(given.address + given.bytes, base_address + size_);
    const auto next = live_.lower_bound(given.address);
    ASSERT_TRUE(next == live_.end() || given.address + given.bytes <= next->first) << "overlap";
    if (next != live_.begin()) {
      const auto [address_before, bytes_before] = *std::prev(next);
      ASSERT_LE(address_before + bytes_before, given.address) << "overlap";
    }
    const std::uint64_t offset = given.address - base_address;
    for (std::uint64_t at = offset + given.dirty_bytes; at < offset + given.bytes; at += 16) {
      ASSERT_FALSE(used_before_[at / 16]) << "called fresh, but was handed out before";
    }
    set(given.address, given.bytes);
  }
  /// Notes a live allocation of a new or changed size.
  void set(std::uint64_t address, std::uint64_t bytes) {
    live_bytes_ += bytes - (live_.contains(address) ? live_[address] : 0);
    live_[address] = bytes;
    const std::uint64_t offset = (address - base_address) / 16;
    std::fill_n(used_before_.begin() + static_cast<std::ptrdiff_t>(offset), bytes / 16, true);
  }
  void on_release(std::uint64_t address) {
    live_bytes_ -= live_[address];
    live_.erase(address);
  }
  /// How far a grown allocation may reach.
  [[nodiscard]] std::uint64_t next_after(std::uint64_t address) const {
    const auto next = live_.upper_bound(address);
    return next == live_.end() ? base_address + size_ : next->first;
  }
  [[nodiscard]] std::uint64_t live_bytes() const { return live_bytes_; }
  [[nodiscard]] std::size_t live_objects() const { return live_.size(); }

 private:
  std::uint64_t size_, live_bytes_ = 0;
  std::map<std::uint64_t, std::uint64_t> live_;
  std::vector<bool> used_before_;
};

std::uint64_t random_size(std::mt19937_64& random) {
  const auto kind = random() % 100;
  if (kind < 70) return 1 + random() % 512;
  if (kind < 90) return 1 + random() % 8192;
  if (kind < 99) return 1 + random() % (64 * kib);
  return 1 + random() % (2 * mib);
}

std::uint64_t random_alignment(std::mt19937_64& random) {
  return random() % 4 != 0 ? 16 : std::uint64_t{1} << random() % (random() % 8 == 0 ? 22 : 13);
}

/// Random operations on a heap that they fill and empty in waves, then everything freed in random order.
void stress(std::uint64_t seed, std::uint64_t unit_bytes, std::uint64_t size, int operations) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", unit " << unit_bytes);
  heap h{base_address, size, unit_bytes};
  shadow model{size};
  std::mt19937_64 random{seed};
  std::vector<std::uint64_t> live;
  const auto take_any = [&] {
    std::swap(live[random() % live.size()], live.back());
    const std::uint64_t address = live.back();
    live.pop_back();
    return address;
  };
  int refused = 0;
  for (int i = 0; i < operations && !testing::Test::HasFatalFailure(); ++i) {
    const bool filling = i * 20L / operations % 2 == 0;
    const auto what = random() % 100;
    if (live.empty() || what < (filling ? 55 : 35)) {
      const std::uint64_t bytes = random_size(random), alignment = random_alignment(random);
      const auto given = h.allocate(bytes, alignment);
      if (given.ok()) {
        model.on_allocate(given.value(), bytes, alignment);
        live.push_back(given.value().address);
      } else {
        ASSERT_EQ(given.why(), QUIRE_NO_MEMORY);
        ++refused;
      }
    } else if (what < 90) {
      const std::uint64_t address = take_any();
      ASSERT_TRUE(h.release(address).ok());
      ASSERT_EQ(h.release(address), QUIRE_BAD_ADDRESS) << "double free";
      model.on_release(address);
    } else {
      const std::uint64_t address = live[random() % live.size()], bytes = random_size(random);
      const std::uint64_t before = h.size_of(address).value();
      const bool done = h.try_resize(address, bytes).ok();
      const std::uint64_t after = h.size_of(address).value();
      if (done) {
        ASSERT_GE(after, bytes);
        ASSERT_LE(address + after, model.next_after(address)) << "grown over its neighbour";
        model.set(address, after);
      } else {
        ASSERT_EQ(after, before);
      }
    }
    if (i % 20'000 == 0) {
      ASSERT_TRUE(h.is_valid());
      ASSERT_EQ(h.numbers().live_bytes, model.live_bytes());
      ASSERT_EQ(h.numbers().live_objects, model.live_objects());
    }
  }
  ASSERT_TRUE(h.is_valid());
  EXPECT_GT(refused, 0) << "the run never filled the heap";
  while (!live.empty()) ASSERT_TRUE(h.release(take_any()).ok());
  expect_all_free(h, size);
}

TEST(heap_stress, a_million_operations_with_units_of_a_page) { stress(1, page, 96 * mib, 1'000'000); }
TEST(heap_stress, units_of_64_kib) { stress(2, 64 * kib, 48 * mib, 200'000); }
TEST(heap_stress, units_of_2_mib) { stress(3, 2 * mib, 96 * mib, 200'000); }

/// Spans come and go between large objects, so that every kind of step changes what a subtree offers.
TEST(heap_stress, every_step_leaves_a_whole_structure) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    heap h{base_address, gib, page};
    std::mt19937_64 random{seed};
    std::vector<std::uint64_t> live;
    for (int i = 0; i < 2000; ++i) {
      const bool filling = i / 500 % 2 == 0;
      if (live.empty() || random() % 100 < (filling ? 70 : 35)) {
        const std::uint64_t bytes = random() % 3 == 0 ? page * (1 + random() % 20) : 2600 + random() % 1200;
        live.push_back(h.allocate(bytes).value().address);
      } else {
        std::swap(live[random() % live.size()], live.back());
        ASSERT_TRUE(h.release(live.back()).ok());
        live.pop_back();
      }
      ASSERT_TRUE(h.is_valid()) << "seed " << seed << ", step " << i;
    }
  }
}

TEST(heap_stress, threads_never_get_the_same_memory) {
  const std::uint64_t size = 64 * mib;
  heap h{base_address, size, page};
  constexpr unsigned threads = 4;
  // A byte a granule, written by its owner alone: were two threads given the same memory, one would find the mark of
  // the other, and the thread sanitizer would see the race.
  std::vector<unsigned char> granules(size / 16, 0);
  std::array<std::vector<std::uint64_t>, threads> handed_over;  // freed by the next thread in the second phase
  std::array<std::uint64_t, threads> damaged{};
  const auto mark = [&](std::uint64_t address, std::uint64_t bytes, unsigned char from, unsigned char to) {
    std::uint64_t wrong = 0;
    for (std::uint64_t at = (address - base_address) / 16; at < (address - base_address + bytes) / 16; ++at) {
      wrong += granules[at] != from;
      granules[at] = to;
    }
    return wrong;
  };
  const auto allocate_and_free = [&](unsigned me) {
    std::mt19937_64 random{me};
    auto& live = handed_over[me];
    const auto name = static_cast<unsigned char>(me + 1);
    for (int i = 0; i < 60'000; ++i) {
      if (live.size() < 400 && random() % 2 == 0) {
        const auto given = h.allocate(1 + random() % (random() % 16 == 0 ? 20'000 : 600));
        if (!given.ok()) continue;
        damaged[me] += mark(given.value().address, given.value().bytes, 0, name);
        live.push_back(given.value().address);
      } else if (!live.empty()) {
        std::swap(live[random() % live.size()], live.back());
        damaged[me] += mark(live.back(), h.size_of(live.back()).value(), name, 0);
        damaged[me] += !h.release(live.back()).ok();
        live.pop_back();
      }
    }
  };
  const auto free_of_neighbour = [&](unsigned me) {
    for (const std::uint64_t address : handed_over[(me + 1) % threads]) damaged[me] += !h.release(address).ok();
  };
  const auto run_all = [&](const auto& body) {
    std::vector<std::jthread> running;
    for (unsigned me = 0; me < threads; ++me) running.emplace_back(body, me);
  };
  run_all(allocate_and_free);
  EXPECT_TRUE(h.is_valid());
  EXPECT_GT(h.numbers().live_objects, 0u);
  run_all(free_of_neighbour);
  EXPECT_EQ(damaged, (std::array<std::uint64_t, threads>{}));
  expect_all_free(h, size);
}

TEST(heap_stress, memory_is_used_again_before_fresh_memory_is_touched) {
  heap h{base_address, gib, page};
  std::mt19937_64 random{7};
  std::vector<std::uint64_t> live;
  std::uint64_t reached_early = 0;
  for (int i = 0; i < 200'000; ++i) {
    if (live.size() < 2000) {
      live.push_back(h.allocate(random_size(random) % 20'000 + 1).value().address);
    } else {
      std::swap(live[random() % live.size()], live.back());
      ASSERT_TRUE(h.release(live.back()).ok());
      live.pop_back();
    }
    if (i == 20'000) reached_early = h.numbers().reached_bytes;
  }
  EXPECT_LE(h.numbers().reached_bytes, reached_early * 5 / 4);
}

}  // namespace
}  // namespace quire::heap::heap_model_test
