// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/memory/pages.hpp"

#include <quire/system.h>

#include <atomic>

namespace quire::program {
namespace {
std::atomic<bool> g_any{false};  ///< a page was closed, at some time
}

void note_closing() noexcept { g_any.store(true); }
bool was_any_closed() noexcept { return g_any.load(std::memory_order_relaxed); }

std::uintptr_t end_of_region(std::uintptr_t at) noexcept {
  quire_region in{};
  void* first = nullptr;
  std::uint64_t bytes = 0;
  if (quire_region_of(reinterpret_cast<void*>(at), &in) != QUIRE_OK ||
      (quire_heap_range(in, &first, &bytes) != QUIRE_OK && quire_region_range(in, &first, &bytes) != QUIRE_OK))
    return 0;
  return reinterpret_cast<std::uintptr_t>(first) + bytes;
}

bool any_closed(const void* at, std::size_t bytes) noexcept {
  if (!was_any_closed()) return false;
  const auto look = [](const void* first, std::size_t some) {
    int found = 0;
    return quire_pages_closed(first, some, &found) == QUIRE_OK && found != 0 ? QUIRE_BUSY : QUIRE_OK;
  };
  return for_each_region(const_cast<void*>(at), bytes, look) == QUIRE_BUSY;
}

}  // namespace quire::program
