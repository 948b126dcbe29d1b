// SPDX-License-Identifier: BSD-3-Clause
// Which of a Fortran program's allocatable variables omp_alloc() has made (gcc 14 and later): what frees such a
// variable asks, whichever node has made it. A table in shared memory, under a lock.
#include <quire/quire.h>

#include <cstdint>

#include "program/job/shared_state.hpp"
#include "program/omp/gomp/export.hpp"
#include "program/posix/errands/locks.hpp"
#include "program/process/fail.hpp"

using namespace quire::program;

namespace {

struct allocation {
  const void* at;
  allocation* next;
};
constexpr std::size_t lists = 4096;

allocation*& list_of(const void* at) noexcept {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
  return static_cast<allocation**>(shared().allocations)[reinterpret_cast<std::uintptr_t>(at) * odd >> 52];
}

}  // namespace

QUIRE_GOMP void GOMP_add_alloc(void* at) {
  void* memory = nullptr;
  if (const quire_status why = quire_malloc(sizeof(allocation), &memory); why != QUIRE_OK)
    fail("no shared memory for what is known of a variable", why);
  auto* const made = static_cast<allocation*>(memory);
  shared_state& all = shared();
  lock(all.names);
  if (all.allocations == nullptr) {
    if (const quire_status why = quire_calloc(lists, sizeof(allocation*), &all.allocations); why != QUIRE_OK)
      fail("no shared memory for a table of variables", why);
  }
  *made = {at, list_of(at)};
  list_of(at) = made;
  unlock(all.names);
}

/// Whether it is one; it is none from now on.
QUIRE_GOMP bool GOMP_is_alloc(void* at) {
  shared_state& all = shared();
  lock(all.names);
  allocation* found = nullptr;
  for (allocation** to = all.allocations != nullptr ? &list_of(at) : nullptr; to != nullptr && *to != nullptr;
       to = &(*to)->next) {
    if ((*to)->at != at) continue;
    found = *to;
    *to = found->next;
    break;
  }
  unlock(all.names);
  if (found == nullptr) return false;
  (void)quire_free(found);
  return true;
}
