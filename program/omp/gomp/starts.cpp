// SPDX-License-Identifier: BSD-3-Clause
// Calls that gcc makes for loops and sections with reductions of tasks, or scans, or conditional lastprivate; and those
// of compilers before 4.9, in which a region's end is a call.
#include "program/omp/gomp/starts.hpp"

#include "program/omp/gomp/export.hpp"
#include "program/omp/gomp/reductions.hpp"
#include "program/omp/team/common_memory.hpp"
#include "program/process/fail.hpp"

namespace quire::program::gomp {

void begin_extras(std::uintptr_t* reductions, void** memory) noexcept {
  if (reductions != nullptr) begin_shared_reductions(reductions);
  if (memory == nullptr) return;
  bool first = false;
  const auto bytes = reinterpret_cast<std::size_t>(*memory);
  *memory = begin_common_memory(bytes, first);
  if (first) common_memory_ready(*memory);
}

kind kind_of(long number, long chunk) noexcept {
  constexpr long monotonic = 0x80000000l, by_user = 0, fixed = 1, taken = 2, guided = 3, by_runtime = 4;
  const std::uint64_t some = static_cast<std::uint64_t>(std::max(chunk, 0L));
  switch (number & ~monotonic & 0xffffffffl) {
    case by_user:
      return {usual(), static_cast<std::uint64_t>(usual_chunk())};
    case fixed:
      return {schedule::blocks, some};
    case taken:
      return {schedule::taken, some};
    case guided:
      return {schedule::guided, some};
    case by_runtime:
      return {schedule::blocks, 0};
    default:
      fail("a loop has a schedule that this version does not know", QUIRE_UNSUPPORTED);
  }
}

namespace {

bool start_loop(loop l, bool ordered, std::uintptr_t* reductions, void** memory, long* first, long* end) noexcept {
  begin_extras(reductions, memory);
  l.ordered = ordered;
  begin_loop(l);
  return first == nullptr || next(first, end);
}
bool start_loop(loop l, bool ordered, std::uintptr_t* reductions, void** memory, whole* first, whole* end) noexcept {
  begin_extras(reductions, memory);
  l.ordered = ordered;
  begin_loop(l);
  return first == nullptr || next(first, end);
}

}  // namespace
}  // namespace quire::program::gomp

using namespace quire::program;
using namespace quire::program::gomp;

#define QUIRE_LOOP_START(name, ull_name, ordered)                                                                      \
  QUIRE_GOMP bool name(long from, long to, long step, long number, long chunk, long* first, long* end,                 \
                       std::uintptr_t* reductions, void** memory) {                                                    \
    const kind k = kind_of(number, chunk);                                                                             \
    return start_loop(of(from, to, step, k.how, static_cast<long>(k.chunk)), ordered, reductions, memory, first, end); \
  }                                                                                                                    \
  QUIRE_GOMP bool ull_name(bool up, whole from, whole to, whole step, long number, whole chunk, whole* first,          \
                           whole* end, std::uintptr_t* reductions, void** memory) {                                    \
    const kind k = kind_of(number, static_cast<long>(std::min<whole>(chunk, 1ull << 40)));                             \
    return start_loop(of(up, from, to, step, k.how, k.chunk), ordered, reductions, memory, first, end);                \
  }
QUIRE_LOOP_START(GOMP_loop_start, GOMP_loop_ull_start, false)
QUIRE_LOOP_START(GOMP_loop_ordered_start, GOMP_loop_ull_ordered_start, true)

QUIRE_GOMP unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
  begin_extras(reductions, memory);
  begin_loop(sections(count));
  return next_section();
}
QUIRE_GOMP void GOMP_scope_start(std::uintptr_t* reductions) { begin_shared_reductions(reductions); }

/// The region's data begin with the reductions.
QUIRE_GOMP unsigned GOMP_parallel_reductions(region_function what, void* data, unsigned threads, unsigned flags) {
  ask_binding(binding_of(flags));
  const int count = threads_of_region(threads);
  allocate_reductions(*static_cast<std::uintptr_t**>(data), count);
  loop first;
  first.reductions = true;
  run_region(what, data, static_cast<unsigned>(count), first);
  return static_cast<unsigned>(count);
}

QUIRE_GOMP void GOMP_parallel_start(region_function what, void* data, unsigned threads) {
  begin_region(what, data, threads);
}
QUIRE_GOMP void GOMP_parallel_end() { end_region(); }
#define QUIRE_PARALLEL_LOOP_START(name, how)                                                                       \
  QUIRE_GOMP void GOMP_parallel_loop_##name##_start(region_function what, void* data, unsigned threads, long from, \
                                                    long to, long step, long chunk) {                              \
    begin_region(what, data, threads, of(from, to, step, how, chunk));                                             \
  }
QUIRE_PARALLEL_LOOP_START(static, schedule::blocks)
QUIRE_PARALLEL_LOOP_START(dynamic, schedule::taken)
QUIRE_PARALLEL_LOOP_START(guided, schedule::guided)
QUIRE_GOMP void GOMP_parallel_loop_runtime_start(region_function what, void* data, unsigned threads, long from, long to,
                                                 long step) {
  begin_region(what, data, threads, of(from, to, step, usual(), usual_chunk()));
}
QUIRE_GOMP void GOMP_parallel_sections_start(region_function what, void* data, unsigned threads, unsigned count) {
  begin_region(what, data, threads, sections(count));
}
