// SPDX-License-Identifier: BSD-3-Clause
// Loops that threads divide by their numbers: each finds its first part, and how far it is to the next. No message.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "program/omp/kmp/abi.hpp"
#include "program/omp/kmp/schedule.hpp"
#include "program/omp/team/team.hpp"
#include "program/process/fail.hpp"

using namespace quire::program;
using namespace quire::program::kmp;

namespace {

/// Who divides: the threads of a team, or the teams of a league.
struct member {
  std::uint64_t number, count;
};
member team_of_league() noexcept {
  return {static_cast<std::uint64_t>(own_variables().team_number), static_cast<std::uint64_t>(own_variables().teams)};
}
member thread_of_team() noexcept {
  return {static_cast<std::uint64_t>(me().number), static_cast<std::uint64_t>(me().count)};
}

/// Iterations of one member; the next ones are `stride` away.
struct portion {
  std::uint64_t first = 0, end = 0, stride = 0;
};

portion portion_of(member m, std::uint64_t iterations, id kind, std::uint64_t chunk) noexcept {
  chunk = std::clamp<std::uint64_t>(chunk, 1, iterations);
  if (kind == static_chunked) return {m.number * chunk, m.number * chunk + chunk, chunk * m.count};
  if (kind == static_balanced_chunked) {
    const std::uint64_t each = ((iterations + m.count - 1) / m.count + chunk - 1) / chunk * chunk;
    return {m.number * each, m.number * each + each, iterations};
  }
  if (kind != static_even) fail("a loop has a static schedule that this version does not know", QUIRE_UNSUPPORTED);
  const std::uint64_t each = iterations / m.count, more = iterations % m.count;
  const std::uint64_t first = m.number * each + std::min(m.number, more);
  return {first, first + each + (m.number < more ? 1 : 0), iterations};
}

/// `is_last`: the last iteration is the member's. Nothing to do: bounds between which nothing lies, whatever the type.
template <class Integer, class Signed = std::make_signed_t<Integer>>
void divide(member m, id kind, id* is_last, Integer* lower, Integer* upper, Signed* stride, Signed step,
            Signed chunk) noexcept {
  const std::uint64_t iterations = iterations_of(*lower, *upper, step);
  if (is_last != nullptr) *is_last = 0;
  *stride = step;
  if (iterations == 0) return;
  const portion p = portion_of(m, iterations, kind, static_cast<std::uint64_t>(std::max<Signed>(chunk, 1)));
  const std::uint64_t end = std::min(p.end, iterations), start = static_cast<std::uint64_t>(*lower);
  *stride = static_cast<Signed>(p.stride * static_cast<std::uint64_t>(step));
  if (p.first >= end) {
    *lower = step > 0 ? 1 : 0;
    *upper = step > 0 ? 0 : 1;
    return;
  }
  *lower = static_cast<Integer>(start + p.first * static_cast<std::uint64_t>(step));
  *upper = static_cast<Integer>(start + (end - 1) * static_cast<std::uint64_t>(step));
  if (is_last != nullptr) *is_last = (iterations - 1 - p.first) % p.stride < p.end - p.first ? 1 : 0;
}

/// For threads, or for the teams of a league.
template <class Integer, class Signed = std::make_signed_t<Integer>>
void begin(id kind, id* is_last, Integer* lower, Integer* upper, Signed* stride, Signed step, Signed chunk) noexcept {
  kind &= ~modifiers;
  if (kind != distribute_chunked && kind != distribute_even)
    return divide(thread_of_team(), kind, is_last, lower, upper, stride, step, chunk);
  divide(team_of_league(), kind - distribute_chunked + static_chunked, is_last, lower, upper, stride, step, chunk);
}

/// For the teams, and then for the threads of the caller's. `upper_of_team`: what the team has.
template <class Integer, class Signed = std::make_signed_t<Integer>>
void begin_both(id kind, id* is_last, Integer* lower, Integer* upper, Integer* upper_of_team, Signed* stride,
                Signed step, Signed chunk) noexcept {
  id last_team = 0, last_thread = 0;
  divide(team_of_league(), static_even, &last_team, lower, upper, stride, step, chunk);
  *upper_of_team = *upper;
  divide(thread_of_team(), kind & ~modifiers, &last_thread, lower, upper, stride, step, chunk);
  if (is_last != nullptr) *is_last = last_team & last_thread;
}

}  // namespace

#define QUIRE_STATIC(name, type, signed_type)                                                                    \
  QUIRE_KMP void __kmpc_for_static_init_##name(source*, id, id kind, id* is_last, type* lower, type* upper,      \
                                               signed_type* stride, signed_type step, signed_type chunk) {       \
    begin<type>(kind, is_last, lower, upper, stride, step, chunk);                                               \
  }                                                                                                              \
  QUIRE_KMP void __kmpc_team_static_init_##name(source*, id, id* is_last, type* lower, type* upper,              \
                                                signed_type* stride, signed_type step, signed_type chunk) {      \
    begin<type>(distribute_chunked, is_last, lower, upper, stride, step, chunk);                                 \
  }                                                                                                              \
  QUIRE_KMP void __kmpc_dist_for_static_init_##name(source*, id, id kind, id* is_last, type* lower, type* upper, \
                                                    type* upper_of_team, signed_type* stride, signed_type step,  \
                                                    signed_type chunk) {                                         \
    begin_both<type>(kind, is_last, lower, upper, upper_of_team, stride, step, chunk);                           \
  }
QUIRE_STATIC(4, std::int32_t, std::int32_t)
QUIRE_STATIC(4u, std::uint32_t, std::int32_t)
QUIRE_STATIC(8, std::int64_t, std::int64_t)
QUIRE_STATIC(8u, std::uint64_t, std::int64_t)

QUIRE_KMP void __kmpc_for_static_fini(source*, id) {}
QUIRE_KMP void __kmpc_dist_for_static_fini(source*, id) {}
