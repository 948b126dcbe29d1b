// SPDX-License-Identifier: BSD-3-Clause
// Loops whose iterations are handed out by the runtime. Bounds are inclusive.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "program/omp/kmp/abi.hpp"
#include "program/omp/kmp/schedule.hpp"
#include "program/omp/team/take.hpp"
#include "program/omp/team/team.hpp"

using namespace quire::program;
using namespace quire::program::kmp;

namespace {

/// 64 bits for bounds of any kind: iterations are counted from the beginning.
template <class Integer>
void begin(id kind, Integer first, Integer last, std::make_signed_t<Integer> step,
           std::make_signed_t<Integer> chunk) noexcept {
  const requested asked = requested_by(kind, chunk);
  loop l;
  l.start = static_cast<std::int64_t>(first);
  l.step = step;
  l.iterations = iterations_of(first, last, step);
  l.how = asked.how;
  l.chunk = asked.chunk;
  l.ordered = asked.ordered;
  std::uint64_t* const rows = me().rows;  // of a doacross loop, whose call is before this one
  begin_loop(l);
  me().rows = rows;
}

template <class Integer>
id next(id* is_last, Integer* first, Integer* last, std::make_signed_t<Integer>* step) noexcept {
  part p;
  if (!next_part(p)) {
    end_loop_nowait();
    return 0;
  }
  const loop& l = me().in;
  const auto bound = [&](std::uint64_t n) {
    return static_cast<Integer>(static_cast<std::uint64_t>(l.start) + n * static_cast<std::uint64_t>(l.step));
  };
  *first = bound(p.first);
  *last = bound(p.end - 1);
  *step = static_cast<std::make_signed_t<Integer>>(l.step);
  if (is_last != nullptr) *is_last = p.end == l.iterations ? 1 : 0;
  return 1;
}

}  // namespace

#define QUIRE_DISPATCH(name, type, signed_type)                                                                    \
  QUIRE_KMP void __kmpc_dispatch_init_##name(source*, id, id kind, type first, type last, signed_type step,        \
                                             signed_type chunk) {                                                  \
    begin<type>(kind, first, last, step, chunk);                                                                   \
  }                                                                                                                \
  QUIRE_KMP id __kmpc_dispatch_next_##name(source*, id, id* is_last, type* first, type* last, signed_type* step) { \
    return next<type>(is_last, first, last, step);                                                                 \
  }                                                                                                                \
  QUIRE_KMP void __kmpc_dispatch_fini_##name(source*, id) {}  // after each iteration of an ordered loop
QUIRE_DISPATCH(4, std::int32_t, std::int32_t)
QUIRE_DISPATCH(4u, std::uint32_t, std::int32_t)
QUIRE_DISPATCH(8, std::int64_t, std::int64_t)
QUIRE_DISPATCH(8u, std::uint64_t, std::int64_t)

/// A loop over the teams of a league, each of which has a part, and hands it out to its threads.
#define QUIRE_DISTRIBUTED_DISPATCH(name, type, signed_type)                                                        \
  QUIRE_KMP void __kmpc_for_static_init_##name(source*, id, id, id*, type*, type*, signed_type*, signed_type,      \
                                               signed_type);                                                       \
  QUIRE_KMP void __kmpc_dist_dispatch_init_##name(source* where, id thread, id kind, id* is_last, type first,      \
                                                  type last, signed_type step, signed_type chunk) {                \
    id is_last_team = 0;                                                                                           \
    signed_type stride = 0;                                                                                        \
    __kmpc_for_static_init_##name(where, thread, distribute_even, &is_last_team, &first, &last, &stride, step, 1); \
    if (is_last != nullptr) *is_last = is_last_team;                                                               \
    begin<type>(kind, first, last, step, chunk);                                                                   \
  }
QUIRE_DISTRIBUTED_DISPATCH(4, std::int32_t, std::int32_t)
QUIRE_DISTRIBUTED_DISPATCH(4u, std::uint32_t, std::int32_t)
QUIRE_DISTRIBUTED_DISPATCH(8, std::int64_t, std::int64_t)
QUIRE_DISTRIBUTED_DISPATCH(8u, std::uint64_t, std::int64_t)

/// Newer compilers: behind a loop.
QUIRE_KMP void __kmpc_dispatch_deinit(source*, id) {}
