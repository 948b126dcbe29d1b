// SPDX-License-Identifier: BSD-3-Clause
// Calls that gcc makes for tasks.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "program/omp/gomp/dependences.hpp"
#include "program/omp/gomp/export.hpp"
#include "program/omp/gomp/reductions.hpp"
#include "program/omp/team/tasking.hpp"
#include "program/omp/team/team.hpp"

using namespace quire::program;

namespace {

/// What gcc makes of a task's data: moved as bytes, or by a function of its own.
using copy_function = void (*)(void* to, void* from);
enum flag : unsigned {
  final_task = 1u << 1,
  has_dependences = 1u << 3,
  up = 1u << 8,
  grain = 1u << 9,
  deferred = 1u << 10,
  no_group = 1u << 11,
  reduction = 1u << 12,
  detached = 1u << 13,
  strict = 1u << 14
};

struct shape {
  region_function what;
  void* data;
  copy_function by;
  long bytes, alignment;
};

void copy(void* to, const shape& s) noexcept {
  if (s.by != nullptr) {
    s.by(to, s.data);
  } else if (s.bytes != 0) {
    std::memcpy(to, s.data, static_cast<std::size_t>(s.bytes));
  }
}

user_task* copied(const shape& s) noexcept {
  user_task* const t = make_task(s.what, static_cast<std::size_t>(s.bytes), static_cast<std::size_t>(s.alignment));
  copy(t->arguments, s);
  return t;
}

/// How a taskloop's iterations are shared out.
struct cut {
  std::uint64_t tasks, each, more;  ///< the first `more` tasks have one iteration beyond `each`
  bool exact = false;               ///< all have `each`, the last one what is left
};
cut cut_up(std::uint64_t iterations, std::uint64_t number, unsigned flags) noexcept {
  if ((flags & grain) != 0 && number > 0) {
    if ((flags & strict) != 0) return {(iterations + number - 1) / number, number, 0, true};
    const std::uint64_t tasks = std::max<std::uint64_t>(iterations / number, 1);
    return {tasks, iterations / tasks, iterations % tasks};
  }
  const std::uint64_t wanted = number == 0 ? static_cast<std::uint64_t>(me().count) : number,
                      tasks = std::clamp<std::uint64_t>(wanted, 1, iterations);
  return {tasks, iterations / tasks, iterations % tasks};
}

/// The first two words of a taskloop's data are the bounds of a task; the third one its reductions.
template <class Integer>
void make_taskloop(const shape& s, unsigned flags, unsigned long number, Integer from, Integer to,
                   Integer step) noexcept {
  const bool rises = std::is_signed_v<Integer> ? step > 0 : (flags & up) != 0;
  auto* const registered = (flags & reduction) != 0 ? static_cast<void**>(s.data)[2] : nullptr;
  const bool none = rises ? from >= to : from <= to;
  if (none && registered == nullptr) return;
  if ((flags & no_group) == 0) begin_group();
  if (registered != nullptr) register_reductions(static_cast<std::uintptr_t*>(registered));
  const auto way = static_cast<std::uint64_t>(rises ? to - from : from - to),
             stride = static_cast<std::uint64_t>(rises ? step : -step);
  const std::uint64_t iterations = none ? 0 : (way - 1) / stride + 1;
  const cut parts = none ? cut{} : cut_up(iterations, number, flags);
  const task_options options{.deferred = (flags & deferred) != 0, .final = (flags & final_task) != 0};
  for (std::uint64_t i = 0, first = 0; i < parts.tasks; ++i) {
    const std::uint64_t end =
        parts.exact ? std::min(iterations, first + parts.each) : first + parts.each + (i < parts.more ? 1 : 0);
    user_task* const t = copied(s);
    const auto bound = [&](std::uint64_t n) { return static_cast<Integer>(from + static_cast<Integer>(n) * step); };
    const Integer bounds[2] = {bound(first), bound(end)};
    std::memcpy(t->arguments, bounds, sizeof bounds);
    start_task(t, options);
    first = end;
  }
  if ((flags & no_group) == 0) end_group();
}

}  // namespace

QUIRE_GOMP void GOMP_task(region_function what, void* data, copy_function by, long bytes, long alignment,
                          bool if_clause, unsigned flags, void** depend, int, void* detach) {
  const shape s{what, data, by, bytes, alignment};
  dependence_list on;
  if ((flags & has_dependences) != 0) on = dependences_of(depend);
  const task_options options{.deferred = if_clause, .final = (flags & final_task) != 0, .on = on};
  const bool on_place = runs_at_once(options) && by == nullptr && (flags & detached) == 0;
  if (on_place) return start_task(make_task_on(what, data), options);
  user_task* const t = make_task(what, static_cast<std::size_t>(bytes), static_cast<std::size_t>(alignment));
  if ((flags & detached) != 0) {
    void* const event = event_of(*t);
    *static_cast<void**>(detach) = event;
    if (data != nullptr) *static_cast<void**>(data) = event;
  }
  copy(t->arguments, s);
  start_task(t, options);
}
QUIRE_GOMP void omp_fulfill_event(std::uintptr_t event) { fulfil_event(reinterpret_cast<void*>(event)); }
QUIRE_GOMP int omp_in_final() { return in_final_task() ? 1 : 0; }

QUIRE_GOMP void GOMP_taskloop(region_function what, void* data, copy_function by, long bytes, long alignment,
                              unsigned flags, unsigned long number, int, long from, long to, long step) {
  make_taskloop<long>({what, data, by, bytes, alignment}, flags, number, from, to, step);
}
QUIRE_GOMP void GOMP_taskloop_ull(region_function what, void* data, copy_function by, long bytes, long alignment,
                                  unsigned flags, unsigned long number, int, unsigned long long from,
                                  unsigned long long to, unsigned long long step) {
  make_taskloop<unsigned long long>({what, data, by, bytes, alignment}, flags, number, from, to, step);
}
QUIRE_GOMP void GOMP_taskwait() { wait_for_children(); }
QUIRE_GOMP void GOMP_taskwait_depend(void** depend) { wait_for_dependences(dependences_of(depend)); }
QUIRE_GOMP void GOMP_taskwait_depend_nowait(void** depend) { start_empty_task(dependences_of(depend)); }
QUIRE_GOMP void GOMP_taskyield() { yield_to_tasks(); }
QUIRE_GOMP void GOMP_taskgroup_start() { begin_group(); }
QUIRE_GOMP void GOMP_taskgroup_end() { end_group(); }
