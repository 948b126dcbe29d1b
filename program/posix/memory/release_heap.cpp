// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/memory/release_heap.hpp"

#include <quire/system.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "program/job/shared_state.hpp"
#include "program/process/code_span.hpp"
#include "program/process/fail.hpp"
#include "program/process/image/large_objects.hpp"
#include "program/process/memory_mode.hpp"
#include "program/process/watch/ranges.hpp"

namespace quire::program {
namespace {

constexpr std::uint64_t least_heap_bytes = 64u << 20;

struct large_heap {
  quire_region region{};
  span range{};
};
/// By class, and behind them that of blocks of any class; without a region where there was no room for it.
std::array<large_heap, release_heaps> g_heaps{};
large_heap& g_common = g_heaps[release_classes];
span g_all;  ///< from the first to the last

/// Zero: no addresses, or no memory.
quire_region make_heap(std::uint64_t bytes) {
  quire_region made{};
  quire_region_options how{};
  how.size = sizeof how;
  how.consistency = QUIRE_RELEASE;
  how.placement = QUIRE_PLACE_FIRST_TOUCH;
  how.heap = 1;
  how.orders = orders_of_flags();  // as what it becomes when an update meets it
  const quire_status why = quire_region_create(&how, bytes, &made);
  if (why == QUIRE_OK) return made;
  if (why != QUIRE_NO_ADDRESSES && why != QUIRE_NO_MEMORY && why != QUIRE_SYSTEM)
    fail("no memory for large blocks of the heap", why);
  return {};
}

/// An eighth of the shared addresses for those of all classes, as much for the others together; less where other
/// regions have taken them.
void make_heaps(std::array<quire_region, release_heaps>& made) {
  std::uint64_t bytes = 0;
  if (quire_heap_range({}, nullptr, &bytes) != QUIRE_OK) return;
  for (bytes /= 4; bytes >= least_heap_bytes && made[release_classes].id == 0; bytes /= 2)
    made[release_classes] = make_heap(bytes);
  bytes = bytes * 2 / release_classes;
  for (unsigned i = 0; i < release_classes && made[release_classes].id != 0 && bytes >= least_heap_bytes; ++i)
    made[i] = make_heap(bytes);
}

void note_heap(large_heap& h, quire_region made) {
  void* first = nullptr;
  std::uint64_t bytes = 0;
  if (const quire_status why = quire_heap_range(made, &first, &bytes); why != QUIRE_OK)
    fail("the heap of large blocks is not where it was", why);
  watch::note_release_region(made, reinterpret_cast<std::uint64_t>(first), bytes);
  h = {made, {reinterpret_cast<std::uintptr_t>(first), bytes}};
  const std::uintptr_t begin = g_all.bytes == 0 ? h.range.first : std::min(g_all.first, h.range.first);
  g_all = {begin, std::max(g_all.first + g_all.bytes, h.range.first + h.range.bytes) - begin};
}

/// What this node has been asked for, in the order in which it came: neighbours in it have different heaps.
constexpr std::size_t most_classes = 128;
constinit std::array<std::atomic<std::uint64_t>, most_classes> g_classes{};

/// Beyond the first ones all have one heap.
std::size_t number_of_class(std::uint64_t asked) noexcept {
  for (std::size_t i = 0; i < most_classes; ++i) {
    std::uint64_t known = g_classes[i].load(std::memory_order_relaxed);
    if (known == asked || (known == 0 && (g_classes[i].compare_exchange_strong(known, asked) || known == asked)))
      return i;
  }
  return most_classes;
}

large_heap& heap_for(const void* caller, std::size_t bytes) noexcept {
  constexpr std::uint64_t seldom_full = 64;  // blocks of a heap, at least
  constexpr int size_bits = 6;
  const std::uint64_t asked = reinterpret_cast<std::uintptr_t>(caller) << size_bits | std::bit_width(bytes);
  large_heap& own = g_heaps[number_of_class(asked) % release_classes];
  return bytes > own.range.bytes / seldom_full ? g_common : own;
}

void* allocate_in(const large_heap& h, std::size_t bytes, std::size_t alignment, bool zero) noexcept {
  void* at = nullptr;
  if (h.region.id == 0) return nullptr;
  const quire_status why = zero ? quire_region_calloc(h.region, alignment, bytes, &at)
                                : quire_region_malloc(h.region, alignment, bytes, &at);
  return why == QUIRE_OK ? at : nullptr;
}

}  // namespace

void open_release_heap() {
  if (!is_mixed()) return;
  std::array<quire_region, release_heaps> made{};
  if (quire_node() == 0) {
    make_heaps(made);
    for (unsigned i = 0; i < release_heaps; ++i) {
      if (made[i].id != 0) add_marks_of(i, made[i]);
    }
  }
  if (const quire_status why = quire_broadcast(made.data(), sizeof made, 0); why != QUIRE_OK)
    fail("nodes cannot agree on their heap", why);
  for (unsigned i = 0; i < release_heaps; ++i) {
    if (made[i].id != 0) note_heap(g_heaps[i], made[i]);
  }
}

bool is_large(std::size_t bytes) noexcept { return g_common.region.id != 0 && bytes >= least_large_bytes; }

void* allocate_large(const void* caller, std::size_t bytes, std::size_t alignment, bool zero) noexcept {
  const large_heap& wanted = heap_for(caller, bytes);
  void* const at = allocate_in(wanted, bytes, alignment, zero);
  return at != nullptr || &wanted == &g_common ? at : allocate_in(g_common, bytes, alignment, zero);
}

bool in_release_heap(const void* at) noexcept {
  if (!g_all.has(at)) return false;
  for (const large_heap& h : g_heaps) {
    if (h.range.has(at)) return true;
  }
  return false;
}

}  // namespace quire::program
