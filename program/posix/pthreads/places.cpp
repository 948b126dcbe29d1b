// SPDX-License-Identifier: BSD-3-Clause
// Places of threads on this node: who gets which, and when there are more. A thread's place is another's when the
// thread is gone, and nobody can ask for its result any more.
#include <pthread.h>
#include <quire/quire.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "program/job/job.hpp"
#include "program/posix/memory/thread_data.hpp"
#include "program/posix/pthreads/starting.hpp"
#include "program/posix/threads/elsewhere.hpp"
#include "program/process/fail.hpp"
#include "program/process/interpose.hpp"
#include "program/process/waiting.hpp"

namespace quire::program {
namespace {

void (*g_tell)(int threads) = nullptr;
std::mutex g_guard;  ///< of this node's places
std::size_t g_next = 1;
std::mutex g_commands;  ///< node 0: of collective calls
bool g_over = false;

bool is_done_with(std::uint32_t state) noexcept {
  constexpr std::uint32_t nobodys = thread_record::detached | thread_record::collected;
  return (state & thread_record::ended) != 0 && (state & nobodys) != 0;
}

/// A thread that has told its end may still be in libc.
bool take(std::size_t number, std::uint32_t wanted) noexcept {
  thread_record& r = record_of(job().node, number);
  const std::uint32_t now = load(r.now);
  if (now != 0 && !is_done_with(now)) return false;
  if (now != 0) (void)QUIRE_NEXT(pthread_join)(handle_of_place(number), nullptr);
  r.result = nullptr;
  store(r.now, wanted);
  return true;
}

std::size_t find_place(std::uint32_t wanted) noexcept {
  const std::size_t count = places_here();
  for (std::size_t i = 1; i < count; ++i) {
    const std::size_t number = g_next;
    g_next = g_next + 1 < count ? g_next + 1 : 1;
    if (take(number, wanted)) return number;
  }
  return 0;
}

void* make_on_node_0(void* each) noexcept {
  make_places_on_all(static_cast<int>(reinterpret_cast<std::uintptr_t>(each)));
  return nullptr;
}

/// Where variables are shared, all nodes take part, and each gets as many.
bool add_places() noexcept {
  if (!has_thread_data()) return add_place_here();
  const std::size_t has = places_here(), wanted = std::min(2 * has, most_places);
  if (wanted == has) return false;
  void* const each = reinterpret_cast<void*>(wanted);
  if (job().node == 0) {
    (void)make_on_node_0(each);
  } else if (!run_on(0, make_on_node_0, each)) {
    return false;
  }
  (void)!wait_until([&] { return places_here() >= wanted; });  // this node's lead is about to be there too
  return true;
}

}  // namespace

std::size_t take_place(std::uint32_t state) noexcept {
  const os::signals_held none;
  const std::lock_guard held(g_guard);
  for (;;) {
    if (const std::size_t found = find_place(state); found != 0) return found;
    if (!add_places()) return 0;
  }
}

void give_place(std::size_t number) noexcept {
  const os::signals_held none;
  const std::lock_guard held(g_guard);
  store(record_of(job().node, number).now, 0);
}

places_held::places_held() noexcept { g_guard.lock(); }
places_held::~places_held() { g_guard.unlock(); }

void tell_of_places_by(void (*tell)(int threads)) noexcept { g_tell = tell; }
int first_places() noexcept { return has_placement() ? 8 : 1; }

void make_places_on_all(int each) noexcept {
  const std::lock_guard held(g_commands);
  if (g_over) {
    for (;;) ::pause();
  }
  const int threads = each * job().nodes;
  if (!has_places(threads)) g_tell(threads);
}

void stop_making_places() noexcept {
  const std::lock_guard held(g_commands);
  g_over = true;
}

}  // namespace quire::program
