// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/memory/mapped_range.hpp"

#include <atomic>

namespace quire::program::mapped {
namespace {
/// Addresses of all mapped files lie between them.
std::atomic<std::uint64_t> g_lowest{UINT64_MAX}, g_highest{0};
}  // namespace

void note_mapped(std::uint64_t first, std::uint64_t end) noexcept {
  std::uint64_t lowest = g_lowest.load();
  while (first < lowest && !g_lowest.compare_exchange_weak(lowest, first)) {
  }
  std::uint64_t highest = g_highest.load();
  while (end > highest && !g_highest.compare_exchange_weak(highest, end)) {
  }
}

bool was_any_mapped() noexcept { return g_highest.load() != 0; }

bool may_have(const void* at) noexcept {
  const auto address = reinterpret_cast<std::uint64_t>(at);
  return address >= g_lowest.load(std::memory_order_relaxed) && address < g_highest.load(std::memory_order_relaxed);
}

}  // namespace quire::program::mapped
