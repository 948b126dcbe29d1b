// SPDX-License-Identifier: BSD-3-Clause
// Taskloops: clang describes one task, whose bounds lie in it; each part of the loop gets a copy.
#include <algorithm>
#include <cstring>

#include "program/omp/kmp/tasks.hpp"
#include "program/omp/team/team.hpp"

using namespace quire::program;
using namespace quire::program::kmp;

namespace {

/// Copies the private variables; null: they are bytes.
using duplicate_function = void (*)(compiled_task* to, compiled_task* from, id has_last);

enum division : id { as_runtime_likes, by_size, by_number };

struct taskloop {
  compiled_task* pattern;
  std::uint64_t *lower, *upper;  ///< within the pattern; inclusive
  std::int64_t step;
  duplicate_function by;
};

std::uint64_t iterations_of(const taskloop& l) noexcept {
  const std::int64_t first = static_cast<std::int64_t>(*l.lower), last = static_cast<std::int64_t>(*l.upper);
  if (l.step > 0 ? last < first : first < last) return 0;
  const std::uint64_t way = l.step > 0 ? *l.upper - *l.lower : *l.lower - *l.upper;
  return way / (l.step > 0 ? static_cast<std::uint64_t>(l.step) : 0 - static_cast<std::uint64_t>(l.step)) + 1;
}

void place(compiled_task* t, const taskloop& l, const std::uint64_t* bound, std::uint64_t iteration) noexcept {
  const std::uint64_t value = *l.lower + iteration * static_cast<std::uint64_t>(l.step);
  const auto offset = reinterpret_cast<const std::byte*>(bound) - reinterpret_cast<const std::byte*>(l.pattern);
  std::memcpy(reinterpret_cast<std::byte*>(t) + offset, &value, sizeof value);
}

compiled_task* part_of(const taskloop& l, std::uint64_t first, std::uint64_t end, bool has_last) {
  const task_head& h = head_of(l.pattern);
  compiled_task* const t = allocate_task(h.bytes, h.shares, h.flags);
  std::memcpy(static_cast<void*>(t), l.pattern, h.bytes);
  if (l.pattern->shareds != nullptr) t->shareds = reinterpret_cast<std::byte*>(t) + h.shares;
  if (l.by != nullptr) l.by(t, l.pattern, has_last ? 1 : 0);
  place(t, l, l.lower, first);
  place(t, l, l.upper, end - 1);
  return t;
}

/// `strict`: all parts have `size` iterations, but the last one.
void run(const taskloop& l, bool deferred, id how, std::uint64_t size, bool strict) {
  const std::uint64_t iterations = iterations_of(l);
  if (iterations != 0) {
    size = std::clamp<std::uint64_t>(size, 1, iterations);
    strict = strict && how == by_size;
    const std::uint64_t asked = how == by_size     ? (iterations + (strict ? size - 1 : 0)) / size
                                : how == by_number ? size
                                                   : static_cast<std::uint64_t>(me().count);
    const std::uint64_t tasks = std::min(asked, iterations);
    for (std::uint64_t i = 0, at = 0; i < tasks; ++i) {
      const std::uint64_t end =
          strict ? std::min(at + size, iterations) : at + iterations / tasks + (i < iterations % tasks ? 1 : 0);
      submit_task(part_of(l, at, end, i + 1 == tasks), {.deferred = deferred});
      at = end;
    }
  }
  discard_task(l.pattern);
}

}  // namespace

QUIRE_KMP void __kmpc_taskloop_5(source*, id, compiled_task* t, id deferred, std::uint64_t* lower, std::uint64_t* upper,
                                 std::int64_t step, id no_group, id how, std::uint64_t size, id strict,
                                 duplicate_function by) {
  if (no_group == 0) begin_group();
  run({t, lower, upper, step, by}, deferred != 0, how, size, strict != 0);
  if (no_group == 0) end_group();
}
QUIRE_KMP void __kmpc_taskloop(source* where, id thread, compiled_task* t, id deferred, std::uint64_t* lower,
                               std::uint64_t* upper, std::int64_t step, id no_group, id how, std::uint64_t size,
                               duplicate_function by) {
  __kmpc_taskloop_5(where, thread, t, deferred, lower, upper, step, no_group, how, size, 0, by);
}
