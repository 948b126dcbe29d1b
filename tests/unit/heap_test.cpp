// The shared heap's allocator against models: an array of pages for exhaustive small cases, ordered maps for long
// random runs. No address here has memory behind it: were the allocator to touch what it hands out, it would crash.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "heap/heap.hpp"

namespace {

/// Metadata allocations of this thread that still succeed; negative: all.
thread_local int allocations_left = -1;

bool allocation_fails() noexcept {
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

namespace quire::heap {
namespace {

constexpr std::uint64_t base_address = 0x2000'0000'0000;
constexpr std::uint64_t page = page_bytes;
constexpr std::uint64_t kib = 1 << 10, mib = 1 << 20, gib = 1 << 30;

/// The heap has nothing live and its free memory is in one piece.
void expect_all_free(heap& h, std::uint64_t size) {
  EXPECT_EQ(h.numbers().live_bytes, 0u);
  EXPECT_EQ(h.numbers().live_objects, 0u);
  const auto all = h.allocate(size);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all.value().address, base_address);
  EXPECT_EQ(h.numbers().runs, 1u);
  EXPECT_TRUE(h.release(base_address).ok());
  EXPECT_TRUE(h.is_valid());
}

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

/// `operations` random ones on a heap that they fill to about nine tenths, then everything freed in random order.
void stress(std::uint64_t seed, std::uint64_t unit_bytes, int operations) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", unit " << unit_bytes);
  const std::uint64_t size = 96 * mib;
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
    const bool filling = i / 50'000 % 2 == 0;  // waves of growing and shrinking
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

TEST(heap_stress, a_million_operations_with_units_of_a_page) { stress(1, page, 1'000'000); }
TEST(heap_stress, units_of_64_kib) { stress(2, 64 * kib, 200'000); }
TEST(heap_stress, units_of_2_mib) { stress(3, 2 * mib, 200'000); }

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

// ---- Bad input ------------------------------------------------------------------------------------------------------

TEST(heap_input, sizes_and_alignments_that_cannot_be) {
  heap h{base_address, 64 * mib, page};
  for (const std::uint64_t bytes : {std::uint64_t{0}, 64 * mib + 1, std::uint64_t{1} << 60, std::uint64_t{SIZE_MAX},
                                    std::uint64_t{SIZE_MAX} - 4096}) {
    EXPECT_EQ(h.allocate(bytes).why(), QUIRE_INVALID) << bytes;
    EXPECT_EQ(h.allocate(bytes, 2 * mib).why(), QUIRE_INVALID) << bytes;
  }
  for (const std::uint64_t alignment : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{24}, page + 16, 4 * mib,
                                        std::uint64_t{1} << 63}) {
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
  std::vector<std::uint64_t> bad{0, 1, 16, UINT64_MAX, UINT64_MAX - 15, base_address - 1, base_address - page,
                                 base_address + 64 * mib, base_address + 32 * mib, gone};
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
    for (const auto& [bytes, alignment] : {std::pair<std::uint64_t, std::uint64_t>{100, 16}, {2 * page, 2 * page},
                                          {page, page}, {100 * page, 64 * page}, {2000, 16}, {7 * page, page}}) {
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
      const auto [address, bytes, dirty] = given.value();
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

TEST(heap_use, memory_is_used_again_before_fresh_memory_is_touched) {
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
}  // namespace quire::heap
