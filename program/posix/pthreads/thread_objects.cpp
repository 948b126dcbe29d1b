// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/pthreads/thread_objects.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "program/job/shared_state.hpp"
#include "program/posix/heap/heap.hpp"
#include "program/process/interpose.hpp"
#include "program/process/private_memory.hpp"
#include "program/sites/arguments.hpp"

namespace quire::program {
namespace {

struct dropped {
  void* held;
  dropped* next;
};
std::mutex g_dropped_guard;
dropped* g_dropped = nullptr;

/// Libraries lie apart. Two that share a count stay longer, no more.
std::uint32_t& count_of(std::uint64_t address) noexcept {
  return shared().thread_objects[address / library_gap % shared_state::most_thread_objects];
}

void add(const void* library, std::uint32_t by) noexcept {
  if (is_loaded_later(library) && is_heap_open())
    __atomic_fetch_add(&count_of(reinterpret_cast<std::uint64_t>(library)), by, __ATOMIC_ACQ_REL);
}

}  // namespace

bool is_loaded_later(const void* library) noexcept {
  return quire_nodes() > 1 && is_placed(reinterpret_cast<std::uint64_t>(library));
}

void* hold_library(const void* library) noexcept {
  if (library == nullptr || is_loaded_later(library)) return nullptr;
  Dl_info in{};
  void* found = nullptr;
  if (::dladdr1(library, &in, &found, RTLD_DL_LINKMAP) == 0 || found == nullptr) return nullptr;
  const auto* const map = static_cast<const link_map*>(found);
  const auto all = modules();
  const bool began = std::any_of(all.begin(), all.end(), [map](const module& m) { return m.base == map->l_addr; });
  return began ? nullptr : QUIRE_NEXT(dlopen)(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

void drop_library(void* held) noexcept {
  auto* const one = make_private<dropped>(held, nullptr);
  const std::lock_guard guard(g_dropped_guard);
  one->next = std::exchange(g_dropped, one);
}

void close_dropped() noexcept {
  dropped* all = nullptr;
  {
    const std::lock_guard guard(g_dropped_guard);
    all = std::exchange(g_dropped, nullptr);
  }
  while (all != nullptr) {
    const dropped now = *all;
    destroy_private(std::exchange(all, now.next));
    (void)QUIRE_NEXT(dlclose)(now.held);
    forget_arguments();
  }
}

void note_thread_object(const void* library) noexcept { add(library, 1); }
void forget_thread_object(const void* library) noexcept { add(library, ~std::uint32_t{0}); }

bool has_thread_objects(const module& m) noexcept {
  for (const data_range& data : m.data()) {
    for (std::uint64_t at = data.first; at < data.end; at += library_gap) {
      if (__atomic_load_n(&count_of(at), __ATOMIC_ACQUIRE) != 0) return true;
    }
    if (__atomic_load_n(&count_of(data.end - 1), __ATOMIC_ACQUIRE) != 0) return true;
  }
  return false;
}

}  // namespace quire::program
