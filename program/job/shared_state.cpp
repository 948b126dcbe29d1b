// SPDX-License-Identifier: BSD-3-Clause
#include "program/job/shared_state.hpp"

#include <quire/system.h>

#include <initializer_list>

#include "program/process/fail.hpp"

namespace quire::program {
namespace {
shared_state* g_state = nullptr;

/// Memory that costs nothing until pages are closed.
void make_closed_pages(shared_state::closed_pages& c, quire_region heap) noexcept {
  void *first = nullptr, *zero = nullptr, *unmapped = nullptr, *begins = nullptr, *leaves = nullptr, *stale = nullptr;
  std::uint64_t bytes = 0;
  quire_status why = quire_heap_range(heap, &first, &bytes);
  for (void** const bits : {&zero, &unmapped, &begins, &leaves, &stale}) {
    if (why == QUIRE_OK) why = quire_calloc(bytes / 4096 / 64 + 1, sizeof(std::uint64_t), bits);
  }
  if (why != QUIRE_OK) fail("no shared memory for what is known of pages", why);
  c = {reinterpret_cast<std::uint64_t>(first), bytes / 4096,
       static_cast<std::uint64_t*>(zero),      static_cast<std::uint64_t*>(unmapped),
       static_cast<std::uint64_t*>(begins),    static_cast<std::uint64_t*>(leaves),
       static_cast<std::uint64_t*>(stale)};
}
}  // namespace

void open_shared_state() {
  void* at = nullptr;
  if (quire_node() == 0) {
    if (const quire_status why = quire_aligned_alloc(4096, sizeof(shared_state), &at); why != QUIRE_OK)
      fail("no shared memory", why);
    auto& s = *static_cast<shared_state*>(at);  // new pages are zero
    quire_region heap{};
    if (const quire_status why = quire_region_of(&s, &heap); why != QUIRE_OK) fail("shared memory is of no heap", why);
    make_closed_pages(s.closed[0], heap);
    s.next_library = first_library;
    for (quire_mutex* const m : {&s.critical, &s.atomics, &s.names, &s.loading, &s.process}) {
      if (const quire_status why = quire_mutex_create(m); why != QUIRE_OK) fail("no mutex", why);
    }
  }
  if (const quire_status why = quire_broadcast(&at, sizeof at, 0); why != QUIRE_OK) fail("nodes cannot begin", why);
  g_state = static_cast<shared_state*>(at);
}

shared_state& shared() noexcept { return *g_state; }
void add_marks_of(unsigned n, quire_region large_blocks) noexcept {
  make_closed_pages(g_state->closed[1 + n], large_blocks);
}

}  // namespace quire::program
