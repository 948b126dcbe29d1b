// SPDX-License-Identifier: BSD-3-Clause
// Calls that gcc makes for loops whose iterations it does not hand out itself, and for sections.
#include <algorithm>

#include "openmp/gomp/export.hpp"
#include "openmp/team/take.hpp"
#include "openmp/team/team.hpp"

using namespace quire::openmp;
using schedule = loop::schedule;

namespace {

loop describe(long start, long end, long step, schedule how, long chunk) noexcept {
  loop l;
  l.start = start;
  l.step = step;
  l.how = how == schedule::blocks && chunk > 0 ? schedule::rounds : how;
  l.chunk = static_cast<std::uint64_t>(std::max(chunk, 1L));
  const bool none = step > 0 ? start >= end : start <= end;
  const std::uint64_t way = step > 0 ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start) : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(end);
  const std::uint64_t stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  l.iterations = none ? 0 : (way - 1) / stride + 1;
  return l;
}

loop as_user_says(long start, long end, long step) noexcept { return describe(start, end, step, job().schedule, static_cast<long>(job().chunk)); }

bool next(long* first, long* end) noexcept {
  part p;
  if (!next_part(p)) return false;
  const loop& l = me().in;
  *first = static_cast<long>(static_cast<std::uint64_t>(l.start) + p.first * static_cast<std::uint64_t>(l.step));
  *end = static_cast<long>(static_cast<std::uint64_t>(l.start) + p.end * static_cast<std::uint64_t>(l.step));
  return true;
}

bool start(const loop& l, long* first, long* end) noexcept {
  begin_loop(l);
  return next(first, end);
}

/// Sections are iterations from 1 on, each by itself.
loop sections(unsigned count) noexcept { return describe(1, static_cast<long>(count) + 1, 1, schedule::taken, 1); }
unsigned next_section() noexcept {
  long first = 0, end = 0;
  return next(&first, &end) ? static_cast<unsigned>(first) : 0;
}

}  // namespace

/// The five calls of a schedule.
#define QUIRE_LOOP(name, how)                                                                                                                       \
  QUIRE_GOMP bool GOMP_loop_##name##_start(long from, long to, long step, long chunk, long* first, long* end) {                                     \
    return start(describe(from, to, step, how, chunk), first, end);                                                                                 \
  }                                                                                                                                                 \
  QUIRE_GOMP bool GOMP_loop_##name##_next(long* first, long* end) { return next(first, end); }                                                      \
  QUIRE_GOMP void GOMP_parallel_loop_##name(region_function what, void* data, unsigned threads, long from, long to, long step, long chunk, unsigned) { \
    run_region(what, data, threads, describe(from, to, step, how, chunk));                                                                          \
  }
QUIRE_LOOP(static, schedule::blocks)
QUIRE_LOOP(dynamic, schedule::taken)
QUIRE_LOOP(guided, schedule::guided)
QUIRE_LOOP(nonmonotonic_dynamic, schedule::taken)
QUIRE_LOOP(nonmonotonic_guided, schedule::guided)

/// The schedule that OMP_SCHEDULE says.
#define QUIRE_RUNTIME_LOOP(name)                                                                                                           \
  QUIRE_GOMP bool GOMP_loop_##name##_start(long from, long to, long step, long* first, long* end) {                                        \
    return start(as_user_says(from, to, step), first, end);                                                                                \
  }                                                                                                                                        \
  QUIRE_GOMP bool GOMP_loop_##name##_next(long* first, long* end) { return next(first, end); }                                             \
  QUIRE_GOMP void GOMP_parallel_loop_##name(region_function what, void* data, unsigned threads, long from, long to, long step, unsigned) { \
    run_region(what, data, threads, as_user_says(from, to, step));                                                                         \
  }
QUIRE_RUNTIME_LOOP(runtime)
QUIRE_RUNTIME_LOOP(nonmonotonic_runtime)
QUIRE_RUNTIME_LOOP(maybe_nonmonotonic_runtime)

QUIRE_GOMP void GOMP_loop_end() { team_barrier(); }
QUIRE_GOMP void GOMP_loop_end_nowait() {}

QUIRE_GOMP unsigned GOMP_sections_start(unsigned count) {
  begin_loop(sections(count));
  return next_section();
}
QUIRE_GOMP unsigned GOMP_sections_next() { return next_section(); }
QUIRE_GOMP void GOMP_sections_end() { team_barrier(); }
QUIRE_GOMP void GOMP_sections_end_nowait() {}
QUIRE_GOMP void GOMP_parallel_sections(region_function what, void* data, unsigned threads, unsigned count, unsigned) {
  run_region(what, data, threads, sections(count));
}
