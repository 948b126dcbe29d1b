// SPDX-License-Identifier: BSD-3-Clause
// Calls that gcc makes for loops whose iterations it does not hand out itself, and for sections.
#include "program/omp/gomp/export.hpp"
#include "program/omp/gomp/loops.hpp"

using namespace quire::program;
using namespace quire::program::gomp;

/// The calls of a schedule, for signed and for unsigned loops.
#define QUIRE_LOOP(name, how, ordered)                                                                               \
  QUIRE_GOMP bool GOMP_loop_##name##_start(long from, long to, long step, long chunk, long* first, long* end) {      \
    return start(of(from, to, step, how, chunk), ordered, first, end);                                               \
  }                                                                                                                  \
  QUIRE_GOMP bool GOMP_loop_##name##_next(long* first, long* end) { return next(first, end); }                       \
  QUIRE_GOMP bool GOMP_loop_ull_##name##_start(bool up, whole from, whole to, whole step, whole chunk, whole* first, \
                                               whole* end) {                                                         \
    return start(of(up, from, to, step, how, chunk), ordered, first, end);                                           \
  }                                                                                                                  \
  QUIRE_GOMP bool GOMP_loop_ull_##name##_next(whole* first, whole* end) { return next(first, end); }
#define QUIRE_PARALLEL_LOOP(name, how)                                                                              \
  QUIRE_GOMP void GOMP_parallel_loop_##name(region_function what, void* data, unsigned threads, long from, long to, \
                                            long step, long chunk, unsigned flags) {                                \
    ask_binding(binding_of(flags));                                                                                 \
    run_region(what, data, threads, of(from, to, step, how, chunk));                                                \
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
#define QUIRE_RUNTIME_LOOP(name, ordered)                                                                             \
  QUIRE_GOMP bool GOMP_loop_##name##_start(long from, long to, long step, long* first, long* end) {                   \
    return start(of(from, to, step, usual(), usual_chunk()), ordered, first, end);                                    \
  }                                                                                                                   \
  QUIRE_GOMP bool GOMP_loop_##name##_next(long* first, long* end) { return next(first, end); }                        \
  QUIRE_GOMP bool GOMP_loop_ull_##name##_start(bool up, whole from, whole to, whole step, whole* first, whole* end) { \
    return start(of(up, from, to, step, usual(), static_cast<whole>(usual_chunk())), ordered, first, end);            \
  }                                                                                                                   \
  QUIRE_GOMP bool GOMP_loop_ull_##name##_next(whole* first, whole* end) { return next(first, end); }
#define QUIRE_PARALLEL_RUNTIME_LOOP(name)                                                                           \
  QUIRE_GOMP void GOMP_parallel_loop_##name(region_function what, void* data, unsigned threads, long from, long to, \
                                            long step, unsigned flags) {                                            \
    ask_binding(binding_of(flags));                                                                                 \
    run_region(what, data, threads, of(from, to, step, usual(), usual_chunk()));                                    \
  }
QUIRE_RUNTIME_LOOP(runtime, false)
QUIRE_RUNTIME_LOOP(nonmonotonic_runtime, false)
QUIRE_RUNTIME_LOOP(maybe_nonmonotonic_runtime, false)
QUIRE_RUNTIME_LOOP(ordered_runtime, true)
QUIRE_PARALLEL_RUNTIME_LOOP(runtime)
QUIRE_PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime)
QUIRE_PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime)

QUIRE_GOMP void GOMP_loop_end() { team_barrier(__builtin_return_address(0)); }
QUIRE_GOMP void GOMP_loop_end_nowait() { end_loop_nowait(); }
QUIRE_GOMP void GOMP_ordered_start() { wait_for_turn(); }
QUIRE_GOMP void GOMP_ordered_end() {}  // the thread's part as a whole has its turn

QUIRE_GOMP unsigned GOMP_sections_start(unsigned count) {
  begin_loop(sections(count));
  return next_section();
}
QUIRE_GOMP unsigned GOMP_sections_next() { return next_section(); }
QUIRE_GOMP void GOMP_sections_end() { team_barrier(__builtin_return_address(0)); }
QUIRE_GOMP void GOMP_sections_end_nowait() {}
QUIRE_GOMP void GOMP_parallel_sections(region_function what, void* data, unsigned threads, unsigned count,
                                       unsigned flags) {
  ask_binding(binding_of(flags));
  run_region(what, data, threads, sections(count));
}
