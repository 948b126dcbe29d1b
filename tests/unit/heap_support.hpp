// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the shared heap's allocator have in common. No address of theirs has memory behind it: were the
// allocator to touch what it hands out, it would crash.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "heap/heap.hpp"

namespace quire::heap {

inline constexpr std::uint64_t base_address = 0x2000'0000'0000;
inline constexpr std::uint64_t page = page_bytes;
inline constexpr std::uint64_t kib = 1 << 10, mib = 1 << 20, gib = 1 << 30;

/// Metadata allocations of this thread that still succeed; negative: all (heap_test.cpp).
extern thread_local int allocations_left;

/// The heap has nothing live and its free memory is in one piece.
inline void expect_all_free(heap& h, std::uint64_t size) {
  EXPECT_EQ(h.numbers().live_bytes, 0u);
  EXPECT_EQ(h.numbers().live_objects, 0u);
  const auto all = h.allocate(size);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all.value().address, base_address);
  EXPECT_EQ(h.numbers().runs, 1u);
  EXPECT_TRUE(h.release(base_address).ok());
  EXPECT_TRUE(h.is_valid());
}

}  // namespace quire::heap
