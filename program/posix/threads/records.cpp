// SPDX-License-Identifier: BSD-3-Clause
#include "program/posix/threads/records.hpp"

#include <quire/quire.h>

#include <atomic>
#include <cstdlib>

#include "program/job/job.hpp"
#include "program/posix/memory/thread_data.hpp"
#include "program/posix/threads/cancellation.hpp"
#include "program/process/fail.hpp"

namespace quire::program {
namespace {

constexpr std::uint64_t page = 4096;
bool g_places_threads = false;
placement g_placement;
threads_state* g_state = nullptr;
thread_record* g_records = nullptr;
std::atomic<bool> g_open{false};
pthread_t g_main{};
own_thread g_own_main;
thread_local constinit own_thread* t_own = nullptr;

std::uint64_t bytes_before_records(int nodes) noexcept {
  const std::uint64_t bytes = sizeof(threads_state) + static_cast<std::uint64_t>(nodes) * sizeof(std::uint32_t);
  return (bytes + page - 1) / page * page;
}

}  // namespace

void choose_placement() noexcept {
  const char* const asked = std::getenv("QUIRE_EXEC_PLACE");
  if (asked == nullptr || *asked == 0) return;
  const auto found = placement_of(asked);
  if (!found) fail("threads are to be placed in a way that there is not (--place)", QUIRE_BAD_OPTION);
  g_placement = *found;
  g_places_threads = true;
}

bool has_placement() noexcept { return g_places_threads; }
const placement& threads_placement() noexcept { return g_placement; }

void open_threads() {
  if (!g_places_threads) return;
  const int nodes = quire_nodes();
  struct {
    void* at = nullptr;
    pthread_t main{};
  } first;
  if (quire_node() == 0) {
    const std::uint64_t bytes =
        bytes_before_records(nodes) + static_cast<std::uint64_t>(nodes) * most_places * sizeof(thread_record);
    if (const quire_status why = quire_aligned_alloc(page, bytes, &first.at); why != QUIRE_OK)
      fail("no shared memory for what is known of threads", why);
    first.main = ::pthread_self();  // new pages are zero
  }
  if (const quire_status why = quire_broadcast(&first, sizeof first, 0); why != QUIRE_OK)
    fail("nodes cannot begin", why);
  g_state = static_cast<threads_state*>(first.at);
  g_records = reinterpret_cast<thread_record*>(static_cast<std::byte*>(first.at) + bytes_before_records(nodes));
  g_main = first.main;
  g_open.store(true);
}

void close_threads() noexcept { g_open.store(false); }
bool are_threads_open() noexcept { return g_open.load(std::memory_order_acquire); }
threads_state& threads() noexcept { return *g_state; }
bool do_threads_run() noexcept {
  return are_threads_open() && (__atomic_load_n(&threads().living, __ATOMIC_ACQUIRE) != 0 || own() != &g_own_main);
}
std::uint32_t& running_on(int node) noexcept { return g_state->running[node]; }
thread_record& record_of(int node, std::size_t number) noexcept {
  return g_records[static_cast<std::size_t>(node) * most_places + number];
}

thread_place place_of(pthread_t thread) noexcept {
  if (!are_threads_open()) return {};
  if (::pthread_equal(thread, g_main) != 0) return {0, 0};
  std::size_t number = 0;
  const int node = node_of_handle(thread, number);
  return {node, number};
}

own_thread* own() noexcept { return t_own; }
void set_own(own_thread* self) noexcept { t_own = self; }

std::uint32_t number_of_own() noexcept {
  constexpr std::uint32_t others = 1u << 31;
  return t_own == nullptr || t_own->record == nullptr ? 0
                                                      : others | static_cast<std::uint32_t>(t_own->record - g_records);
}

void begin_own_main() noexcept {
  if (!g_places_threads) return;
  g_own_main.record = &record_of(0, 0);
  g_own_main.record->now = thread_record::running;
  set_own(&g_own_main);
  note_own(g_own_main);
}

}  // namespace quire::program
