// SPDX-License-Identifier: BSD-3-Clause
// Calls that gcc makes for loops with ordered(n).
#include <cstdarg>

#include "program/omp/gomp/export.hpp"
#include "program/omp/gomp/loops.hpp"
#include "program/omp/gomp/starts.hpp"
#include "program/omp/team/doacross.hpp"

using namespace quire::program;
using namespace quire::program::gomp;

namespace {

template <class Integer>
bool start_doacross(unsigned levels, const Integer* counts, schedule how, std::uint64_t chunk, Integer* first,
                    Integer* end) noexcept {
  begin_loop(of(true, 0, static_cast<whole>(counts[0]), 1, how, chunk));
  begin_doacross(levels, reinterpret_cast<const std::uint64_t*>(counts));
  return next(first, end);
}

}  // namespace

#define QUIRE_DOACROSS(name, how)                                                                                  \
  QUIRE_GOMP bool GOMP_loop_doacross_##name##_start(unsigned levels, long* counts, long chunk, long* first,        \
                                                    long* end) {                                                   \
    return start_doacross(levels, counts, how, static_cast<std::uint64_t>(chunk), first, end);                     \
  }                                                                                                                \
  QUIRE_GOMP bool GOMP_loop_ull_doacross_##name##_start(unsigned levels, whole* counts, whole chunk, whole* first, \
                                                        whole* end) {                                              \
    return start_doacross(levels, counts, how, chunk, first, end);                                                 \
  }
QUIRE_DOACROSS(static, schedule::blocks)
QUIRE_DOACROSS(dynamic, schedule::taken)
QUIRE_DOACROSS(guided, schedule::guided)
QUIRE_GOMP bool GOMP_loop_doacross_runtime_start(unsigned levels, long* counts, long* first, long* end) {
  return start_doacross(levels, counts, usual(), static_cast<std::uint64_t>(usual_chunk()), first, end);
}
QUIRE_GOMP bool GOMP_loop_ull_doacross_runtime_start(unsigned levels, whole* counts, whole* first, whole* end) {
  return start_doacross(levels, counts, usual(), static_cast<std::uint64_t>(usual_chunk()), first, end);
}
QUIRE_GOMP bool GOMP_loop_doacross_start(unsigned levels, long* counts, long how, long chunk, long* first, long* end,
                                         std::uintptr_t* reductions, void** memory) {
  begin_extras(reductions, memory);
  const kind k = kind_of(how, chunk);
  begin_loop(of(true, 0, static_cast<whole>(counts[0]), 1, k.how, k.chunk));
  begin_doacross(levels, reinterpret_cast<const std::uint64_t*>(counts));
  return first == nullptr || next(first, end);
}
QUIRE_GOMP bool GOMP_loop_ull_doacross_start(unsigned levels, whole* counts, long how, whole chunk, whole* first,
                                             whole* end, std::uintptr_t* reductions, void** memory) {
  begin_extras(reductions, memory);
  const kind k = kind_of(how, static_cast<long>(chunk));
  begin_loop(of(true, 0, counts[0], 1, k.how, k.chunk));
  begin_doacross(levels, reinterpret_cast<const std::uint64_t*>(counts));
  return first == nullptr || next(first, end);
}

QUIRE_GOMP void GOMP_doacross_post(long* at) { post_iteration(reinterpret_cast<const std::uint64_t*>(at)); }
QUIRE_GOMP void GOMP_doacross_ull_post(whole* at) { post_iteration(reinterpret_cast<const std::uint64_t*>(at)); }

/// The other levels follow, as long as there are any.
#define QUIRE_WAIT(name, type)                                                                              \
  QUIRE_GOMP void name(type first, ...) {                                                                   \
    std::uint64_t at[most_doacross_levels] = {static_cast<std::uint64_t>(first)};                           \
    va_list rest;                                                                                           \
    va_start(rest, first);                                                                                  \
    for (unsigned i = 1; i < levels_of_loop(); ++i) at[i] = static_cast<std::uint64_t>(va_arg(rest, type)); \
    va_end(rest);                                                                                           \
    wait_for_iteration(at);                                                                                 \
  }
QUIRE_WAIT(GOMP_doacross_wait, long)
QUIRE_WAIT(GOMP_doacross_ull_wait, whole)
