// SPDX-License-Identifier: BSD-3-Clause
// Tasks, as in gomp/tasks.cpp: each runs at once, on the thread that makes it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "openmp/kmp/abi.hpp"
#include "openmp/start/fail.hpp"
#include "openmp/team/team.hpp"

using namespace quire::openmp;
using namespace quire::openmp::kmp;

namespace {

struct task;
using routine = id (*)(id thread, task* of);

/// What the compiler knows of a task (kmp_task_t). Its private variables are behind that, and then what it shares.
struct task {
  void* shareds;
  routine run;
  id part;  ///< at which an untied task goes on
  union {
    routine destroy;
    id priority;
  } first;
  void* second;
};

/// What the runtime knows of it, before it in memory.
struct alignas(16) header {
  std::uint64_t bytes;   ///< of the task and what is behind it
  std::uint64_t shares;  ///< where in them that begins which it shares
  id flags;
  id running;  ///< parts of it, one within the other: an untied task hands itself in again where it may pause
};
constexpr id has_destructors = 8;

header& header_of(task* t) noexcept { return *(reinterpret_cast<header*>(t) - 1); }

task* allocate(std::uint64_t bytes, std::uint64_t shares, id flags) noexcept {
  auto* const made = static_cast<header*>(std::malloc(sizeof(header) + bytes));
  if (made == nullptr) fail("no memory for a task", QUIRE_NO_MEMORY);
  *made = {bytes, shares, flags, 0};
  return reinterpret_cast<task*>(made + 1);
}

void release(task* t) {
  if ((header_of(t).flags & has_destructors) != 0) t->first.destroy(me().number, t);
  std::free(&header_of(t));
}

void run(task* t) {
  header& h = header_of(t);
  ++h.running;
  t->run(me().number, t);
  if (--h.running == 0) release(t);
}

/// A task like `pattern`, for some of the iterations of a taskloop.
using duplicate_function = void (*)(task* to, task* from, id has_last);
task* duplicate(task* pattern, duplicate_function by, bool has_last) {
  const header& h = header_of(pattern);
  task* const made = allocate(h.bytes, h.shares, h.flags);
  std::memcpy(static_cast<void*>(made), pattern, h.bytes);
  if (pattern->shareds != nullptr) made->shareds = reinterpret_cast<std::byte*>(made) + h.shares;
  if (by != nullptr) by(made, pattern, has_last ? 1 : 0);
  return made;
}

enum division : id { as_runtime_likes, by_size, by_number };

/// The bounds, which are inclusive, lie in the task. `strict`: no part is larger than `size`, and only the last is smaller.
void run_taskloop(task* pattern, std::uint64_t* lower, std::uint64_t* upper, std::int64_t step, id how, std::uint64_t size, bool strict,
                  duplicate_function by) {
  const std::uint64_t first = *lower, stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  const bool none = step > 0 ? static_cast<std::int64_t>(*upper) < static_cast<std::int64_t>(first) : static_cast<std::int64_t>(first) < static_cast<std::int64_t>(*upper);
  if (none) return release(pattern);
  const std::uint64_t iterations = (step > 0 ? *upper - first : first - *upper) / stride + 1;
  size = std::clamp<std::uint64_t>(size, 1, iterations);
  strict = strict && how == by_size;
  std::uint64_t tasks = how == by_size ? (iterations + (strict ? size - 1 : 0)) / size : how == by_number ? size : static_cast<std::uint64_t>(me().count);
  tasks = std::min(tasks, iterations);
  const auto offset = [&](std::uint64_t* bound) { return reinterpret_cast<std::byte*>(bound) - reinterpret_cast<std::byte*>(pattern); };
  const auto place = [&](task* t, std::uint64_t* bound, std::uint64_t iteration) {
    const std::uint64_t value = first + iteration * static_cast<std::uint64_t>(step);
    std::memcpy(reinterpret_cast<std::byte*>(t) + offset(bound), &value, sizeof value);
  };
  for (std::uint64_t i = 0, at = 0; i < tasks; ++i) {
    const std::uint64_t end = strict ? std::min(at + size, iterations) : at + iterations / tasks + (i < iterations % tasks ? 1 : 0);
    task* const t = duplicate(pattern, by, i + 1 == tasks);
    place(t, lower, at);
    place(t, upper, end - 1);
    run(t);
    at = end;
  }
  release(pattern);
}

}  // namespace

QUIRE_KMP task* __kmpc_omp_task_alloc(place*, id, id flags, std::size_t bytes, std::size_t shared_bytes, routine what) {
  constexpr std::size_t alignment = 16;
  const std::size_t shares = (bytes + alignment - 1) / alignment * alignment;
  task* const made = allocate(shares + shared_bytes, shares, flags);
  std::memset(static_cast<void*>(made), 0, sizeof(task));
  made->shareds = shared_bytes != 0 ? reinterpret_cast<std::byte*>(made) + shares : nullptr;
  made->run = what;
  return made;
}
QUIRE_KMP id __kmpc_omp_task(place*, id, task* t) {
  run(t);
  return 0;
}
QUIRE_KMP id __kmpc_omp_task_parts(place*, id, task* t) {
  run(t);
  return 0;
}
/// What it depends on has run.
QUIRE_KMP id __kmpc_omp_task_with_deps(place*, id, task* t, id, void*, id, void*) {
  run(t);
  return 0;
}
/// The caller runs the task itself, between these two.
QUIRE_KMP void __kmpc_omp_task_begin_if0(place*, id, task* t) { ++header_of(t).running; }
QUIRE_KMP void __kmpc_omp_task_complete_if0(place*, id, task* t) {
  if (--header_of(t).running == 0) release(t);
}
QUIRE_KMP void __kmpc_omp_wait_deps(place*, id, id, void*, id, void*) {}
QUIRE_KMP void __kmpc_omp_taskwait_deps_51(place*, id, id, void*, id, void*, id) {}
QUIRE_KMP id __kmpc_omp_taskwait(place*, id) { return 0; }
QUIRE_KMP id __kmpc_omp_taskyield(place*, id, id) { return 0; }
QUIRE_KMP void __kmpc_taskgroup(place*, id) {}
QUIRE_KMP void __kmpc_end_taskgroup(place*, id) {}
QUIRE_KMP id __kmpc_omp_reg_task_with_affinity(place*, id, task*, id, void*) { return 0; }

QUIRE_KMP void __kmpc_taskloop(place*, id, task* t, id, std::uint64_t* lower, std::uint64_t* upper, std::int64_t step, id, id how, std::uint64_t size,
                               duplicate_function by) {
  run_taskloop(t, lower, upper, step, how, size, false, by);
}
QUIRE_KMP void __kmpc_taskloop_5(place*, id, task* t, id, std::uint64_t* lower, std::uint64_t* upper, std::int64_t step, id, id how, std::uint64_t size,
                                 id strict, duplicate_function by) {
  run_taskloop(t, lower, upper, step, how, size, strict != 0, by);
}
