// SPDX-License-Identifier: BSD-3-Clause
// Calls that gcc makes for loops whose iterations it does not hand out itself, and for sections.
#include <algorithm>
#include <type_traits>

#include "openmp/gomp/export.hpp"
#include "openmp/team/take.hpp"
#include "openmp/team/team.hpp"

using namespace quire::openmp;
using schedule = loop::schedule;
using whole = unsigned long long;

namespace {

/// Bounds as 64 bits, whatever their sign: iterations are counted from the beginning.
loop describe(bool rises, whole start, whole end, whole step, bool none, schedule how, long chunk) noexcept {
  loop l;
  l.start = static_cast<std::int64_t>(start);
  l.step = static_cast<std::int64_t>(step);
  l.how = how == schedule::blocks && chunk > 0 ? schedule::rounds : how;
  l.chunk = static_cast<std::uint64_t>(std::max(chunk, 1L));
  const whole way = rises ? end - start : start - end, stride = rises ? step : 0 - step;
  l.iterations = none ? 0 : (way - 1) / stride + 1;
  return l;
}

loop of(long start, long end, long step, schedule how, long chunk) noexcept {
  return describe(step > 0, static_cast<whole>(start), static_cast<whole>(end), static_cast<whole>(step), step > 0 ? start >= end : start <= end, how, chunk);
}
loop of(bool up, whole start, whole end, whole step, schedule how, whole chunk) noexcept {
  return describe(up, start, end, step, up ? start >= end : start <= end, how, static_cast<long>(std::min<whole>(chunk, 1ull << 40)));
}
schedule usual() noexcept { return job().schedule; }
long usual_chunk() noexcept { return static_cast<long>(job().chunk); }

template <class Integer>
bool next(Integer* first, Integer* end) noexcept {
  part p;
  if (!next_part(p)) return false;
  const loop& l = me().in;
  const auto bound = [&](std::uint64_t n) { return static_cast<Integer>(static_cast<std::uint64_t>(l.start) + n * static_cast<std::uint64_t>(l.step)); };
  *first = bound(p.first);
  *end = bound(p.end);
  return true;
}

template <class Integer>
bool start(loop l, bool ordered, Integer* first, Integer* end) noexcept {
  l.ordered = ordered;
  begin_loop(l);
  return next(first, end);
}

/// Sections are iterations from 1 on, each by itself.
loop sections(unsigned count) noexcept { return of(1, static_cast<long>(count) + 1, 1, schedule::taken, 1); }
unsigned next_section() noexcept {
  long first = 0, end = 0;
  return next(&first, &end) ? static_cast<unsigned>(first) : 0;
}

}  // namespace

/// The calls of a schedule, for signed and for unsigned loops.
#define QUIRE_LOOP(name, how, ordered)                                                                                                              \
  QUIRE_GOMP bool GOMP_loop_##name##_start(long from, long to, long step, long chunk, long* first, long* end) {                                     \
    return start(of(from, to, step, how, chunk), ordered, first, end);                                                                              \
  }                                                                                                                                                 \
  QUIRE_GOMP bool GOMP_loop_##name##_next(long* first, long* end) { return next(first, end); }                                                      \
  QUIRE_GOMP bool GOMP_loop_ull_##name##_start(bool up, whole from, whole to, whole step, whole chunk, whole* first, whole* end) {                  \
    return start(of(up, from, to, step, how, chunk), ordered, first, end);                                                                          \
  }                                                                                                                                                 \
  QUIRE_GOMP bool GOMP_loop_ull_##name##_next(whole* first, whole* end) { return next(first, end); }
#define QUIRE_PARALLEL_LOOP(name, how)                                                                                                              \
  QUIRE_GOMP void GOMP_parallel_loop_##name(region_function what, void* data, unsigned threads, long from, long to, long step, long chunk, unsigned) { \
    run_region(what, data, threads, of(from, to, step, how, chunk));                                                                                \
  }
QUIRE_LOOP(static, schedule::blocks, false)
QUIRE_LOOP(dynamic, schedule::taken, false)
QUIRE_LOOP(guided, schedule::guided, false)
QUIRE_LOOP(nonmonotonic_dynamic, schedule::taken, false)
QUIRE_LOOP(nonmonotonic_guided, schedule::guided, false)
QUIRE_LOOP(ordered_static, schedule::blocks, true)
QUIRE_LOOP(ordered_dynamic, schedule::taken, true)
QUIRE_LOOP(ordered_guided, schedule::guided, true)
QUIRE_PARALLEL_LOOP(static, schedule::blocks)
QUIRE_PARALLEL_LOOP(dynamic, schedule::taken)
QUIRE_PARALLEL_LOOP(guided, schedule::guided)
QUIRE_PARALLEL_LOOP(nonmonotonic_dynamic, schedule::taken)
QUIRE_PARALLEL_LOOP(nonmonotonic_guided, schedule::guided)

/// The schedule that OMP_SCHEDULE says.
#define QUIRE_RUNTIME_LOOP(name, ordered)                                                                                                  \
  QUIRE_GOMP bool GOMP_loop_##name##_start(long from, long to, long step, long* first, long* end) {                                        \
    return start(of(from, to, step, usual(), usual_chunk()), ordered, first, end);                                                         \
  }                                                                                                                                        \
  QUIRE_GOMP bool GOMP_loop_##name##_next(long* first, long* end) { return next(first, end); }                                             \
  QUIRE_GOMP bool GOMP_loop_ull_##name##_start(bool up, whole from, whole to, whole step, whole* first, whole* end) {                      \
    return start(of(up, from, to, step, usual(), static_cast<whole>(usual_chunk())), ordered, first, end);                                 \
  }                                                                                                                                        \
  QUIRE_GOMP bool GOMP_loop_ull_##name##_next(whole* first, whole* end) { return next(first, end); }
#define QUIRE_PARALLEL_RUNTIME_LOOP(name)                                                                                                  \
  QUIRE_GOMP void GOMP_parallel_loop_##name(region_function what, void* data, unsigned threads, long from, long to, long step, unsigned) { \
    run_region(what, data, threads, of(from, to, step, usual(), usual_chunk()));                                                           \
  }
QUIRE_RUNTIME_LOOP(runtime, false)
QUIRE_RUNTIME_LOOP(nonmonotonic_runtime, false)
QUIRE_RUNTIME_LOOP(maybe_nonmonotonic_runtime, false)
QUIRE_RUNTIME_LOOP(ordered_runtime, true)
QUIRE_PARALLEL_RUNTIME_LOOP(runtime)
QUIRE_PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime)
QUIRE_PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime)

QUIRE_GOMP void GOMP_loop_end() { team_barrier(); }
QUIRE_GOMP void GOMP_loop_end_nowait() { end_loop_nowait(); }
QUIRE_GOMP void GOMP_ordered_start() { wait_for_turn(); }
QUIRE_GOMP void GOMP_ordered_end() {}  // the thread's part as a whole has its turn

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
