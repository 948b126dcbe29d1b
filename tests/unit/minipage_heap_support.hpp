// SPDX-License-Identifier: BSD-3-Clause
// What tests of heaps with minipages share: what all nodes have been told, and an allocation as the region's registry
// makes it.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "heap/minipage_heap.hpp"
#include "heap_support.hpp"

namespace quire::heap {

/// What all nodes have been told of the pages of a heap. A page is told of once.
class page_table {
 public:
  explicit page_table(std::uint64_t size) : bytes_(size / page) {}
  void lay(const span_plan& planned) {
    ++spans;
    ASSERT_GE(planned.minipage_bytes, 16u);
    ASSERT_LE(planned.minipage_bytes, largest_minipage_bytes);
    ASSERT_EQ(planned.minipage_bytes % 16, 0u);
    for (std::uint64_t i = 0; i < planned.pages; ++i) {
      ASSERT_EQ(bytes_[(planned.address - base_address) / page + i].exchange(
                    static_cast<std::uint16_t>(planned.minipage_bytes)),
                0u);
    }
  }
  [[nodiscard]] std::uint64_t minipage_of(std::uint64_t address) const {
    return bytes_[(address - base_address) / page].load();
  }

  std::atomic<unsigned> spans{0};

 private:
  std::vector<std::atomic<std::uint16_t>> bytes_;
};

/// As the region's registry does it.
inline base::result<allocation> allocate(allocator& h, page_table& table, std::uint64_t bytes,
                                         std::uint64_t alignment = 16) {
  for (;;) {
    auto given = h.allocate(bytes, alignment);
    if (given.why() != QUIRE_BUSY) return given;
    const auto planned = h.plan(bytes, alignment);
    if (planned.ok()) {
      table.lay(planned.value());
      h.settle(planned.value(), true);
    } else if (planned.why() == QUIRE_BUSY) {
      std::this_thread::yield();
    }
  }
}

inline std::uint64_t offset_in_page(std::uint64_t address) { return address % page; }
inline std::uint64_t up_to_16(std::uint64_t bytes) { return (bytes + 15) / 16 * 16; }
inline std::uint64_t least_slot(unsigned views) { return up_to_16((4096 + views - 1) / views); }

}  // namespace quire::heap
