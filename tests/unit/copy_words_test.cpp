// SPDX-License-Identifier: BSD-3-Clause
// Copies of memory that another thread writes or reads: all bytes, and no word in parts, wherever the other side lies.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "base/copy_words.hpp"

namespace {

using quire::base::copy_words;

constexpr std::size_t page = 4096;
constexpr std::uint64_t step = 0x1'0001'0001;  // a mixture of two multiples is none
constexpr std::size_t counted = 24;            // words

/// Three pages, the first word of which begins one.
struct pages {
  std::byte* at = static_cast<std::byte*>(std::aligned_alloc(page, 3 * page));
  pages() { std::memset(at, 0, 3 * page); }
  pages(const pages&) = delete;
  pages& operator=(const pages&) = delete;
  ~pages() { std::free(at); }
};

TEST(copy_words, each_length_and_place) {
  std::vector<std::byte> from(400), to(500);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
  for (std::size_t bytes = 0; bytes <= 300; ++bytes) {
    for (std::size_t at : {0, 1, 4, 8, 15}) {
      std::ranges::fill(to, std::byte{0xee});
      copy_words(to.data() + at, from.data() + bytes % 16, bytes);
      ASSERT_TRUE(std::equal(to.begin() + at, to.begin() + at + bytes, from.begin() + bytes % 16));
      ASSERT_TRUE(std::all_of(to.begin(), to.begin() + at, [](std::byte b) { return b == std::byte{0xee}; }));
      ASSERT_EQ(to[at + bytes], std::byte{0xee});
    }
  }
}

/// Where glibc's memcpy() on AMD's Zen 3 has a word in parts after some hundred copies: 4, 8 and 16 of these offsets.
TEST(copy_words, a_word_that_is_written_meanwhile_arrives_as_it_was_at_one_time) {
  const pages from, to;
  auto* const words = reinterpret_cast<volatile std::uint64_t*>(from.at);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t i = 1; !stop; ++i) {
      for (std::size_t k = 0; k < counted; ++k) words[k] = i * step;
    }
  });
  int torn = 0;
  for (std::size_t at : {0, 4, 8, 16, 24, 40, 63}) {
    for (int i = 0; i < 20'000; ++i) {
      copy_words(to.at + at, from.at, page);
      for (std::size_t k = 0; k < counted; ++k) {
        std::uint64_t found;
        std::memcpy(&found, to.at + at + k * sizeof found, sizeof found);
        torn += found % step != 0 ? 1 : 0;
      }
    }
  }
  stop = true;
  writer.join();
  EXPECT_EQ(torn, 0);
}

TEST(copy_words, a_word_that_is_read_meanwhile_is_seen_as_a_whole) {
  const pages from, to;
  const auto* const words = reinterpret_cast<const volatile std::uint64_t*>(to.at);
  std::atomic<bool> stop{false};
  std::atomic<int> torn{0};
  std::thread reader([&] {
    while (!stop) {
      for (std::size_t k = 0; k < counted; ++k) torn += words[k] % step != 0 ? 1 : 0;
    }
  });
  std::uint64_t i = 0;
  for (std::size_t at : {0, 4, 8, 4088, 4092}) {
    for (int turn = 0; turn < 20'000; ++turn) {
      const std::uint64_t value = ++i * step;
      for (std::size_t k = 0; k < counted; ++k) std::memcpy(from.at + at + k * sizeof value, &value, sizeof value);
      copy_words(to.at, from.at + at, page);
    }
  }
  stop = true;
  reader.join();
  EXPECT_EQ(torn, 0);
}

}  // namespace
