// SPDX-License-Identifier: BSD-3-Clause
// Compiled without vector registers (CMakeLists.txt).
#include "program/process/watch/ranges.hpp"

#include "program/process/fail.hpp"

namespace quire::program::watch {
namespace {

struct range {
  std::uint64_t first = 0, bytes = 0;
  quire_region region{};
  bool sequential = false;  ///< atomic
  bool asked = false;       ///< a thread of this node has asked for it; atomic
};
constexpr unsigned most_ranges = 16384;
range g_ranges[most_ranges];  // by address
unsigned g_count = 0;

/// The last range that begins at or below the address; null: there is none.
range* below(std::uint64_t address) noexcept {
  unsigned low = 0, high = g_count;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (g_ranges[middle].first <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? nullptr : &g_ranges[low - 1];
}

range* find(std::uint64_t address) noexcept {
  range* const r = below(address);
  return r != nullptr && address - r->first < r->bytes && !__atomic_load_n(&r->sequential, __ATOMIC_ACQUIRE) ? r
                                                                                                             : nullptr;
}

}  // namespace

void note_release_region(quire_region region, std::uint64_t first, std::uint64_t bytes) {
  if (g_count == most_ranges)
    fail("the program has more large objects than this version can look at: ask for --memory sequential", QUIRE_LIMIT);
  unsigned at = g_count++;
  for (; at > 0 && g_ranges[at - 1].first > first; --at) g_ranges[at] = g_ranges[at - 1];
  g_ranges[at] = {first, bytes, region};
}

void note_sequential(quire_region region) noexcept {
  for (unsigned i = 0; i < g_count; ++i) {
    if (g_ranges[i].region.id == region.id) __atomic_store_n(&g_ranges[i].sequential, true, __ATOMIC_RELEASE);
  }
}

bool is_first_request(std::uint64_t address) noexcept {
  range* const r = find(address);
  return r != nullptr && !__atomic_exchange_n(&r->asked, true, __ATOMIC_ACQ_REL);
}

bool is_release(std::uint64_t address) noexcept { return find(address) != nullptr; }

quire_region release_region_of(std::uint64_t address) noexcept {
  const range* const r = find(address);
  return r != nullptr ? r->region : quire_region{};
}

}  // namespace quire::program::watch
