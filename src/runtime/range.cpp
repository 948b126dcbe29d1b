// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/range.hpp"

#include <pthread.h>

#include <algorithm>

#include "runtime/forward.hpp"
#include "core/guards.hpp"
#include "core/region_slot.hpp"
#include "os/memory.hpp"

namespace quire::api::calls {

constinit shared_range g_range;

bool needs_help(std::uint64_t address) noexcept {
  if (const auto* const there = elsewhere()) {
    return there->contains(address) && !there->both().kernel_waits.load(std::memory_order_relaxed);
  }
  auto* const r = current();
  if (r == nullptr) return false;
  const quire::core::region_ref slot = r->core->regions.find(address);
  return slot != nullptr && slot->detector->descriptor() < 0;
}

/// `bytes`, or as many of them as there are up to memory that nobody may access: below another stack, say.
static std::size_t before_guards(const void* address, std::size_t bytes) noexcept {
  auto* const r = current();
  if (r == nullptr) return bytes;
  const std::uint64_t page = os::page_bytes, first = reinterpret_cast<std::uint64_t>(address);
  for (std::uint64_t at = (first / page + 1) * page; at < first + bytes; at += page) {
    if (r->core->guarded.find(at) != nullptr) return static_cast<std::size_t>(at - first);
  }
  return bytes;
}

std::size_t within_region(const void* address, std::size_t bytes) noexcept {
  bytes = before_guards(address, bytes);
  quire_region of{};
  void* start = nullptr;
  std::uint64_t all = 0;
  if (quire_region_of(address, &of) != QUIRE_OK || quire_region_range(of, &start, &all) != QUIRE_OK) return bytes;
  const auto before = static_cast<std::uint64_t>(static_cast<const char*>(address) - static_cast<const char*>(start));
  if (before < all) return static_cast<std::size_t>(std::min<std::uint64_t>(bytes, all - before));
  std::size_t of_minipage = 0;  // of a fine view
  void* first = nullptr;
  if (quire_minipage_of(address, &first, &of_minipage) != QUIRE_OK) return bytes;
  return std::min(bytes, of_minipage - static_cast<std::size_t>(static_cast<const char*>(address) -
                                                                static_cast<const char*>(first)));
}

static quire::core::region_ref with_closed(const void* address) noexcept {
  auto* const r = elsewhere() == nullptr ? current() : nullptr;
  if (r == nullptr) return {};
  quire::core::region_ref in = r->core->regions.find(reinterpret_cast<std::uint64_t>(address));
  return in != nullptr && in->closed.any() ? in : quire::core::region_ref{};
}

std::size_t before_closed(const void* address, std::size_t bytes) noexcept {
  const quire::core::region_ref in = with_closed(address);
  if (in == nullptr || bytes == 0) return bytes;
  const auto at = reinterpret_cast<std::uint64_t>(address);
  const std::uint64_t offset = in->offset_of(at);
  std::size_t open = bytes;
  (void)in->closed.for_each(offset, std::min<std::uint64_t>(bytes, in->bytes_from(at)),
                            [&](std::uint64_t first, std::uint64_t) {
                              open = first > offset ? static_cast<std::size_t>(first - offset) : 0;
                              return 1;
                            });
  return open;
}

std::size_t closed_here(const void* address, std::size_t bytes) noexcept {
  const quire::core::region_ref in = with_closed(address);
  if (in == nullptr || bytes == 0) return 0;
  const auto at = reinterpret_cast<std::uint64_t>(address);
  const std::uint64_t offset = in->offset_of(at);
  std::size_t closed = 0;
  (void)in->closed.for_each(offset, std::min<std::uint64_t>(bytes, in->bytes_from(at)),
                            [&](std::uint64_t first, std::uint64_t count) {
                              if (first <= offset) closed = static_cast<std::size_t>(first + count - offset);
                              return 1;
                            });
  return std::min(closed, bytes);
}

void watch_range(std::uint64_t base, std::uint64_t bytes) noexcept {
  static const int once = ::pthread_atfork(nullptr, nullptr, &hide_range);
  (void)once;
  g_range.base.store(base);
  g_range.bytes.store(bytes);
}

void watch_adopted(std::uint64_t base, std::uint64_t bytes) noexcept {
  const std::uint64_t had = g_range.adopted_bytes.load(), first = g_range.adopted_base.load();
  const std::uint64_t low = had == 0 ? base : std::min(base, first),
                      high = had == 0 ? base + bytes : std::max(base + bytes, first + had);
  g_range.adopted_bytes.store(~std::uint64_t{0});  // never less than there is: others ask meanwhile
  g_range.adopted_base.store(low);
  g_range.adopted_bytes.store(high - low);
}

bool is_adopted(std::uint64_t address) noexcept {
  auto* const r = current();
  return r != nullptr && r->core->regions.find(address) != nullptr;
}

void hide_range() noexcept {
  g_range.bytes.store(0);
  g_range.adopted_bytes.store(0);
}

}  // namespace quire::api::calls
