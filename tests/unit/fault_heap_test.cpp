// SPDX-License-Identifier: BSD-3-Clause
// The heap for fault context: pieces that do not overlap, threads that take and give at once, and what is given back is
// used again.
#include <gtest/gtest.h>
#include <quire/quire.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "base/fault_heap.hpp"
#include "base/shortage.hpp"

namespace {

using quire::base::fault_allocate;
using quire::base::fault_free;
using quire::base::fault_vector;

TEST(fault_heap, pieces_are_aligned_and_do_not_overlap) {
  std::vector<std::pair<std::byte*, std::size_t>> pieces;
  for (std::size_t bytes : {std::size_t{1}, std::size_t{64}, std::size_t{65}, std::size_t{4096}, std::size_t{200'000},
                            std::size_t{300'000}}) {
    for (int i = 0; i < 20; ++i) {
      auto* const at = static_cast<std::byte*>(fault_allocate(bytes));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 64, 0u);
      std::memset(at, 0xa5, bytes);
      pieces.emplace_back(at, bytes);
    }
  }
  std::ranges::sort(pieces);
  for (std::size_t i = 1; i < pieces.size(); ++i)
    EXPECT_LE(pieces[i - 1].first + pieces[i - 1].second, pieces[i].first);
  for (const auto& [at, bytes] : pieces) fault_free(at, bytes);
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(fault_heap, where_there_is_no_memory_the_process_ends_with_a_line_that_names_the_limit) {
  quire::base::set_words_of_shortage([](char* to, std::size_t bytes) noexcept { std::strncpy(to, "; why", bytes); });
  const auto take_all = [] {
    const rlimit few{64 << 20, 64 << 20};
    ::setrlimit(RLIMIT_DATA, &few);
    for (int i = 0; i < 100; ++i) (void)fault_allocate(1 << 20);
  };
  EXPECT_EXIT(take_all(), testing::ExitedWithCode(QUIRE_NO_MEMORY), "a node no memory .*; why");
  quire::base::set_words_of_shortage(nullptr);
}

TEST(fault_heap, what_is_given_back_is_used_again) {
  void* const first = fault_allocate(5000);
  fault_free(first, 5000);
  EXPECT_EQ(fault_allocate(8000), first);  // of the same power of two
  fault_free(first, 8000);
}
#endif

#if !defined(__SANITIZE_ADDRESS__)
long pages_touched() {
  rusage about{};
  ::getrusage(RUSAGE_SELF, &about);
  return about.ru_minflt;
}

/// A node takes pieces of most sizes, and few of each.
TEST(fault_heap, few_pieces_take_few_pages) {
  std::vector<std::pair<void*, std::size_t>> pieces;
  pieces.reserve(64);
  const long before = pages_touched();
  for (std::size_t bytes = 64; bytes <= 65'536; bytes *= 2)
    for (int i = 0; i < 3; ++i) pieces.emplace_back(fault_allocate(bytes), bytes);
  EXPECT_LT(pages_touched() - before, 100);
  for (const auto& [at, bytes] : pieces) fault_free(at, bytes);
}
#endif

TEST(fault_heap, threads_take_and_give_at_once) {
  std::vector<std::jthread> threads;
  for (std::uint64_t t = 1; t <= 4; ++t) {
    threads.emplace_back([t] {
      for (std::uint64_t round = 0; round < 20'000; ++round) {
        constexpr std::size_t most = 8;
        std::uint64_t* pieces[most];
        for (auto& p : pieces) {
          p = static_cast<std::uint64_t*>(fault_allocate(64));
          std::fill_n(p, 8, t << 32 | round);
        }
        for (auto* p : pieces) {
          for (int i = 0; i < 8; ++i) ASSERT_EQ(p[i], t << 32 | round);
          fault_free(p, 64);
        }
      }
    });
  }
}

TEST(fault_heap, containers_grow) {
  fault_vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < 100'000; ++i) all.push_back(i);
  for (std::uint64_t i = 0; i < 100'000; ++i) ASSERT_EQ(all[i], i);
  quire::base::fault_hash_map<int, std::uint64_t> map;
  for (int i = 0; i < 1000; ++i) map[i] = static_cast<std::uint64_t>(i) * i;
  for (int i = 0; i < 1000; i += 2) map.erase(i);
  EXPECT_EQ(map.size(), 500u);
  EXPECT_EQ(map.at(999), 999u * 999u);
  EXPECT_EQ(*quire::base::make_fault<int>(7), 7);
}

}  // namespace
