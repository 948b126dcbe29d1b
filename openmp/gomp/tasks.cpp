// SPDX-License-Identifier: BSD-3-Clause
// Tasks: each runs at once, on the thread that makes it, as OpenMP allows of any task. So dependences and priorities are kept, and waiting for
// tasks is nothing; other threads get none of them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "openmp/gomp/export.hpp"
#include "openmp/team/team.hpp"

using namespace quire::openmp;

namespace {

/// What gcc makes of a task's data: moved as bytes, or by a function of its own.
using copy_function = void (*)(void* to, void* from);

std::byte* aligned(std::byte* room, std::size_t alignment) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(room);
  return room + ((at + alignment - 1) / alignment * alignment - at);
}

void copy(std::byte* to, void* data, copy_function by, std::size_t bytes) noexcept {
  if (by != nullptr) {
    by(to, data);
  } else if (bytes != 0) {
    std::memcpy(to, data, bytes);
  }
}

/// The first two words of a taskloop's data are the bounds of a task.
template <class Integer>
void run_taskloop(region_function what, void* data, copy_function by, std::size_t bytes, std::size_t alignment, unsigned flags, unsigned long tasks,
                  Integer from, Integer to, Integer step) noexcept {
  constexpr unsigned up = 1u << 8, grain = 1u << 9;
  const bool rises = std::is_signed_v<Integer> ? step > 0 : (flags & up) != 0;
  if (rises ? from >= to : from <= to) return;
  const auto way = static_cast<std::uint64_t>(rises ? to - from : from - to), stride = static_cast<std::uint64_t>(rises ? step : -step);
  const std::uint64_t iterations = (way - 1) / stride + 1;
  std::uint64_t count = tasks == 0 ? static_cast<std::uint64_t>(me().count) : (flags & grain) != 0 ? iterations / tasks : tasks;
  count = std::clamp<std::uint64_t>(count, 1, iterations);
  auto* const room = static_cast<std::byte*>(__builtin_alloca(bytes + alignment));
  std::byte* const own = aligned(room, alignment);
  for (std::uint64_t i = 0, first = 0; i < count; ++i) {
    const std::uint64_t end = first + iterations / count + (i < iterations % count ? 1 : 0);
    copy(own, data, by, bytes);
    const auto bound = [&](std::uint64_t n) { return static_cast<Integer>(from + static_cast<Integer>(n) * step); };
    const Integer bounds[2] = {bound(first), bound(end)};
    std::memcpy(own, bounds, sizeof bounds);
    what(own);
    first = end;
  }
}

}  // namespace

QUIRE_GOMP void GOMP_task(region_function what, void* data, copy_function by, long bytes, long alignment, bool, unsigned, void**, int, void*) {
  if (by == nullptr) return what(data);
  auto* const room = static_cast<std::byte*>(__builtin_alloca(static_cast<std::size_t>(bytes + alignment)));
  std::byte* const own = aligned(room, static_cast<std::size_t>(alignment));
  by(own, data);
  what(own);
}
QUIRE_GOMP void GOMP_taskloop(region_function what, void* data, copy_function by, long bytes, long alignment, unsigned flags, unsigned long tasks, int,
                              long from, long to, long step) {
  run_taskloop<long>(what, data, by, static_cast<std::size_t>(bytes), static_cast<std::size_t>(alignment), flags, tasks, from, to, step);
}
QUIRE_GOMP void GOMP_taskloop_ull(region_function what, void* data, copy_function by, long bytes, long alignment, unsigned flags, unsigned long tasks, int,
                                  unsigned long long from, unsigned long long to, unsigned long long step) {
  run_taskloop<unsigned long long>(what, data, by, static_cast<std::size_t>(bytes), static_cast<std::size_t>(alignment), flags, tasks, from, to, step);
}
QUIRE_GOMP void GOMP_taskwait() {}
QUIRE_GOMP void GOMP_taskwait_depend(void**) {}
QUIRE_GOMP void GOMP_taskyield() {}
QUIRE_GOMP void GOMP_taskgroup_start() {}
QUIRE_GOMP void GOMP_taskgroup_end() {}

// Nothing is cancelled: OMP_CANCELLATION is false.
QUIRE_GOMP bool GOMP_cancel(int, bool) { return false; }
QUIRE_GOMP bool GOMP_cancellation_point(int) { return false; }
QUIRE_GOMP bool GOMP_barrier_cancel() {
  team_barrier();
  return false;
}
QUIRE_GOMP bool GOMP_loop_end_cancel() {
  team_barrier();
  return false;
}
QUIRE_GOMP bool GOMP_sections_end_cancel() {
  team_barrier();
  return false;
}
