// SPDX-License-Identifier: BSD-3-Clause
#include "program/process/watch/demotion.hpp"

#include <pthread.h>
#include <quire/system.h>
#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <initializer_list>

#include "os/signals_held.hpp"
#include "program/process/fail.hpp"
#include "program/process/waiting.hpp"
#include "program/process/watch/patch.hpp"
#include "program/process/watch/ranges.hpp"

namespace quire::program::watch {
namespace {

/// What threads of all nodes have asked for. A region may be asked for by several.
struct request_list {
  static constexpr std::uint64_t most = 1u << 16, over = ~std::uint64_t{0};
  std::uint64_t taken;          ///< about so many places; those behind them may be taken, too
  std::uint64_t regions[most];  ///< 0: not written yet; `over`: the job ends
};
request_list* g_requests = nullptr;
quire_group g_group{};
pthread_t g_thread;
bool g_open = false;

constexpr long look_ns = 2'000'000;

void ask(std::uint64_t region) noexcept {
  std::uint64_t place = __atomic_load_n(&g_requests->taken, __ATOMIC_ACQUIRE), nothing = 0;
  for (; place < request_list::most; ++place, nothing = 0) {
    if (__atomic_compare_exchange_n(&g_requests->regions[place], &nothing, region, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
      break;
  }
  if (place >= request_list::most)
    fail("too many atomic operations meet in large objects: ask for --memory sequential", QUIRE_LIMIT);
  __atomic_store_n(&g_requests->taken, place + 1, __ATOMIC_RELEASE);
}

void* control(void*) noexcept {
  if (const quire_status why = quire_group_join(g_group, 0); why != QUIRE_OK)
    fail("the control thread cannot begin", why);
  for (std::uint64_t next = 0; next < request_list::most;) {
    const std::uint64_t id = __atomic_load_n(&g_requests->regions[next], __ATOMIC_ACQUIRE);
    if (id == request_list::over) break;
    if (id == 0) {
      sleep_a_little(look_ns);
      continue;
    }
    const quire_region region{static_cast<decltype(quire_region::id)>(id)};
    if (const quire_status why = quire_region_set_consistency_by(g_group, region, QUIRE_SEQUENTIAL); why != QUIRE_OK) {
      fail("a large object with atomic operations cannot become sequential: ask for --memory sequential", why);
    }
    note_sequential(region);
    ++next;
  }
  (void)!quire_group_leave(g_group);
  return nullptr;
}

void start_control() noexcept {
  const os::signals_held by_the_thread;
  const int error = ::pthread_create(&g_thread, nullptr, control, nullptr);
  if (error != 0) fail_for_thread(error);
}

}  // namespace

void open_demotion() {
  void* at = nullptr;
  if (quire_node() == 0) {
    if (const quire_status why = quire_aligned_alloc(4096, sizeof(request_list), &at); why != QUIRE_OK)
      fail("no shared memory", why);  // new pages are zero
  }
  if (const quire_status why = quire_broadcast(&at, sizeof at, 0); why != QUIRE_OK) fail("nodes cannot begin", why);
  g_requests = static_cast<request_list*>(at);
  quire_region heap{};
  std::uint64_t bytes = 0;
  if (quire_region_of(at, &heap) == QUIRE_OK && quire_region_range(heap, &at, &bytes) == QUIRE_OK)
    set_common_heap(reinterpret_cast<std::uint64_t>(at), bytes);
  if (const quire_status why = quire_group_create(1, &g_group); why != QUIRE_OK) fail("nodes cannot begin", why);
  start_control();
  g_open = true;
}

void tell_end_of_demotion() noexcept {
  if (g_open) ask(request_list::over);
}

void close_demotion() noexcept {
  if (!g_open) return;
  ::pthread_join(g_thread, nullptr);
  g_open = false;
}

void before_update(const void* at) noexcept {
  constexpr std::uint64_t most_bytes = 48;  // of a pthread object that is looked at
  const auto first = reinterpret_cast<std::uint64_t>(at);
  for (const std::uint64_t address : {first, first + most_bytes - 1}) {
    if (is_release(address)) quire_own_demote(address);
  }
}

extern "C" void quire_own_demote(std::uint64_t address) noexcept {
  const quire_region region = release_region_of(address);
  if (region.id == 0 || !g_open) return;
  const int saved = errno;
  if (is_first_request(address)) ask(region.id);
  constexpr long first_ns = 20'000, longest_ns = 1'000'000;
  for (long ns = first_ns; is_release(address); ns = ns < longest_ns ? 2 * ns : ns) sleep_a_little(ns);
  errno = saved;
}

}  // namespace quire::program::watch
