// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/memory/release_heap.hpp"

#include <quire/system.h>

#include <cstdint>

#include "program/job/shared_state.hpp"
#include "program/process/code_span.hpp"
#include "program/process/fail.hpp"
#include "program/process/image/large_objects.hpp"
#include "program/process/memory_mode.hpp"
#include "program/process/watch/ranges.hpp"

namespace quire::openmp {
namespace {

quire_region g_region{};
span g_range;

/// A quarter of the shared addresses; less where other regions have taken them. Zero: none.
quire_region make_heap() {
  constexpr std::uint64_t least = 64u << 20;
  std::uint64_t bytes = 0;
  quire_region made{};
  quire_region_options how{};
  how.size = sizeof how;
  how.consistency = QUIRE_RELEASE;
  how.placement = QUIRE_PLACE_FIRST_TOUCH;
  how.heap = 1;
  how.orders = 1;  // as what it becomes when an update meets it
  if (quire_heap_range({}, nullptr, &bytes) != QUIRE_OK) return {};
  for (bytes /= 2; bytes >= least; bytes /= 2) {
    const quire_status why = quire_region_create(&how, bytes, &made);
    if (why == QUIRE_OK) return made;
    if (why != QUIRE_NO_ADDRESSES && why != QUIRE_NO_MEMORY && why != QUIRE_SYSTEM)
      fail("no memory for large blocks of the heap", why);
  }
  return {};
}

}  // namespace

void open_release_heap() {
  if (!is_mixed()) return;
  quire_region made{};
  if (quire_node() == 0) {
    made = make_heap();
    if (made.id != 0) add_marks_of(made);
  }
  if (const quire_status why = quire_broadcast(&made, sizeof made, 0); why != QUIRE_OK)
    fail("nodes cannot agree on their heap", why);
  if (made.id == 0) return;
  void* first = nullptr;
  std::uint64_t bytes = 0;
  if (const quire_status why = quire_heap_range(made, &first, &bytes); why != QUIRE_OK)
    fail("the heap of large blocks is not where it was", why);
  g_region = made;
  watch::note_release_region(made, reinterpret_cast<std::uint64_t>(first), bytes);
  g_range = {reinterpret_cast<std::uintptr_t>(first), bytes};
}

bool is_large(std::size_t bytes) noexcept { return g_region.id != 0 && bytes >= least_large_bytes; }

void* allocate_large(std::size_t bytes, std::size_t alignment, bool zero) noexcept {
  void* at = nullptr;
  const quire_status why = zero ? quire_region_calloc(g_region, alignment, bytes, &at)
                                : quire_region_malloc(g_region, alignment, bytes, &at);
  return why == QUIRE_OK ? at : nullptr;
}

bool in_release_heap(const void* at) noexcept { return g_range.has(at); }

}  // namespace quire::openmp
