// SPDX-License-Identifier: BSD-3-Clause
// Random numbers: one sequence for all nodes, the same as libc's, by its own functions on a shared state.
#include <errno.h>
#include <stdlib.h>

#include "program/posix/libc/state.hpp"
#include "program/process/interpose.hpp"

using namespace quire::program;

namespace {

/// Runs `make` on the shared state, or `otherwise` where there is none.
template <class Make, class Otherwise>
auto with_state(Make&& make, Otherwise&& otherwise) noexcept {
  libc_state* const s = shared_libc_state();
  if (s == nullptr) return otherwise();
  const libc_turn mine(*s);
  return make(*s);
}

long next_random() noexcept {
  return with_state(
      [](libc_state& s) {
        int32_t value = 0;
        ::random_r(&s.random, &value);
        return static_cast<long>(value);
      },
      [] { return QUIRE_NEXT(random)(); });
}
void seed_random(unsigned seed) noexcept {
  with_state([&](libc_state& s) { (void)::srandom_r(seed, &s.random); }, [&] { QUIRE_NEXT(srandom)(seed); });
}

}  // namespace

QUIRE_LIBC long random() noexcept { return next_random(); }
QUIRE_LIBC int rand() noexcept { return static_cast<int>(next_random()); }
QUIRE_LIBC void srandom(unsigned seed) noexcept { seed_random(seed); }
QUIRE_LIBC void srand(unsigned seed) noexcept { seed_random(seed); }
QUIRE_LIBC char* initstate(unsigned seed, char* table, size_t bytes) noexcept {
  return with_state(
      [&](libc_state& s) {
        char* const before = reinterpret_cast<char*>(s.random.state - 1);
        return ::initstate_r(seed, table, bytes, &s.random) == 0 ? before : nullptr;
      },
      [&] { return QUIRE_NEXT(initstate)(seed, table, bytes); });
}
QUIRE_LIBC char* setstate(char* table) noexcept {
  return with_state(
      [&](libc_state& s) {
        char* const before = reinterpret_cast<char*>(s.random.state - 1);
        return ::setstate_r(table, &s.random) == 0 ? before : nullptr;
      },
      [&] { return QUIRE_NEXT(setstate)(table); });
}

#define QUIRE_DRAND48(result, name, parameters, arguments, of) \
  QUIRE_LIBC result name parameters noexcept {                 \
    return with_state(                                         \
        [&](libc_state& s) {                                   \
          result value{};                                      \
          (void)of;                                            \
          return value;                                        \
        },                                                     \
        [&] { return QUIRE_NEXT(name) arguments; });           \
  }
QUIRE_DRAND48(double, drand48, (), (), ::drand48_r(&s.drand48, &value))
QUIRE_DRAND48(double, erand48, (unsigned short from[3]), (from), ::erand48_r(from, &s.drand48, &value))
QUIRE_DRAND48(long, lrand48, (), (), ::lrand48_r(&s.drand48, &value))
QUIRE_DRAND48(long, nrand48, (unsigned short from[3]), (from), ::nrand48_r(from, &s.drand48, &value))
QUIRE_DRAND48(long, mrand48, (), (), ::mrand48_r(&s.drand48, &value))
QUIRE_DRAND48(long, jrand48, (unsigned short from[3]), (from), ::jrand48_r(from, &s.drand48, &value))
QUIRE_LIBC void srand48(long seed) noexcept {
  with_state([&](libc_state& s) { (void)::srand48_r(seed, &s.drand48); }, [&] { QUIRE_NEXT(srand48)(seed); });
}
QUIRE_LIBC void lcong48(unsigned short parameters[7]) noexcept {
  with_state([&](libc_state& s) { (void)::lcong48_r(parameters, &s.drand48); },
             [&] { return QUIRE_NEXT(lcong48)(parameters); });
}
/// The numbers before are kept in the state itself.
QUIRE_LIBC unsigned short* seed48(unsigned short seed[3]) noexcept {
  return with_state(
      [&](libc_state& s) {
        (void)::seed48_r(seed, &s.drand48);
        return s.drand48.__old_x;
      },
      [&] { return QUIRE_NEXT(seed48)(seed); });
}
