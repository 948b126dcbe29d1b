// SPDX-License-Identifier: BSD-3-Clause
// Input and output statements of Fortran are calls of libgfortran, which each node has for itself. Between the first
// call of a statement and its last a thread holds its unit, and what libgfortran allocates is the unit's.
#include "openmp/fortran/units.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>

#include "openmp/libc/interpose.hpp"
#include "openmp/memory/heap.hpp"
#include "openmp/start/fail.hpp"
#include "openmp/team/shared_state.hpp"
#include "openmp/team/team.hpp"

using namespace quire::openmp;

namespace {

/// What a statement begins with in memory (st_parameter_common of libgfortran's io.h).
struct statement {
  std::uint32_t flags;
  std::int32_t unit;
};
constexpr std::uint32_t to_text = 1u << 14;      ///< of READ and WRITE: the unit is a variable
constexpr std::uint32_t to_new_unit = 1u << 23;  ///< of OPEN: its number is the library's to choose

span g_library;                 ///< libgfortran's code; empty: there is none
thread_local int t_within = 0;  ///< statements that the thread is in, one within a function that another calls

/// Units that a node other than node 0 has opened itself. What is full stays allowed.
constexpr std::size_t most_opened = 256;
std::array<std::atomic<std::int32_t>, most_opened> g_opened;
std::atomic<std::size_t> g_opened_count{0};

bool is_stream(std::int32_t unit) noexcept { return unit == 0 || unit == 5 || unit == 6; }

/// Null: nobody knows.
std::uint32_t* owner_of(std::int32_t unit) noexcept {
  const bool is_known = unit >= 0 && unit < fortran_units::most;
  return is_known ? &shared().units.owner[static_cast<std::size_t>(unit)] : nullptr;
}
std::uint32_t own_number() noexcept { return static_cast<std::uint32_t>(job().node) + 1; }

/// As this node's libgfortran has it; -1: it is not open.
int descriptor_of(std::int32_t unit) noexcept {
  using descriptor_function = int(const std::int32_t*);
  auto* const descriptor = QUIRE_NEXT_AS(descriptor_function, "_gfortran_fnum_i4");
  return descriptor != nullptr ? descriptor(&unit) : -1;
}

/// After OPEN or CLOSE.
void note_owner(std::int32_t unit) noexcept {
  std::uint32_t* const owner = owner_of(unit);
  if (owner == nullptr) return;
  const int found = descriptor_of(unit);
  const int of_stream = unit == 0 ? STDERR_FILENO : unit == 5 ? STDIN_FILENO : STDOUT_FILENO;
  const std::uint32_t before = __atomic_load_n(owner, __ATOMIC_ACQUIRE);
  std::uint32_t now = own_number();
  if (is_stream(unit)) {
    if (found == of_stream) now = 0;
  } else if (found < 0) {
    now = before == own_number() ? 0 : before;
  }
  if (now != before) __atomic_store_n(owner, now, __ATOMIC_RELEASE);
}

void note_opened(const statement& s) noexcept {
  note_owner(s.unit);
  if (job().node == 0 || is_stream(s.unit)) return;
  const std::size_t at = g_opened_count.fetch_add(1, std::memory_order_acq_rel);
  if (at < most_opened) g_opened[at].store(s.unit, std::memory_order_release);
}

[[noreturn]] void refuse_unit(std::int32_t unit, const char* what, std::uint32_t owner) noexcept {
  char text[240];
  std::snprintf(
      text, sizeof text,
      "Fortran's unit %d is used by a thread on node %d, and %s node %u: units are of a node; do this outside "
      "of parallel regions, or in `!$omp master`, or open another unit on each node",
      unit, job().node, what, owner - 1);
  fail(text, QUIRE_UNSUPPORTED);
}

/// A unit that another node alone has is none here: libgfortran would make a file fort.N instead, close nothing, or go
/// on with a stream.
void check_owner(std::int32_t unit) noexcept {
  const std::uint32_t* const at = owner_of(unit);
  const std::uint32_t owner = at != nullptr ? __atomic_load_n(at, __ATOMIC_ACQUIRE) : 0;
  if (owner == 0 || owner == own_number()) return;
  if (is_stream(unit)) refuse_unit(unit, "is a file or closed by", owner);
  if (descriptor_of(unit) < 0) refuse_unit(unit, "was opened by", owner);
}

void check(const statement& s) noexcept {
  if ((s.flags & to_text) != 0 || s.unit < 0) return;
  if (is_stream(s.unit) || job().node == 0) return check_owner(s.unit);
  const std::size_t count = g_opened_count.load(std::memory_order_acquire);
  if (count > most_opened) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (g_opened[i].load(std::memory_order_acquire) == s.unit) return;
  }
  char text[200];
  std::snprintf(text, sizeof text,
                "Fortran's unit %d is used by a thread on node %d, which has not opened it: units are of a node; do "
                "this outside of parallel regions, or in "
                "`!$omp master`",
                s.unit, job().node);
  fail(text, QUIRE_UNSUPPORTED);
}

using statement_function = void(statement*);

}  // namespace

namespace quire::openmp {

void find_units_library() noexcept {
  const void* const any = ::dlsym(RTLD_NEXT, "_gfortran_st_write");
  if (any != nullptr) g_library = code_around(any);
}

bool is_for_unit(const void* caller) noexcept { return t_within != 0 && g_library.has(caller); }

/// In a statement the thread may hold the unit's lock.
void flush_units() noexcept {
  using flush_function = void(std::int32_t*);
  flush_function* const flush = g_library.bytes != 0 ? QUIRE_NEXT_AS(flush_function, "_gfortran_flush_i4") : nullptr;
  if (flush != nullptr && t_within == 0) flush(nullptr);
}

}  // namespace quire::openmp

/// Statements whose values are calls of their own, between the first one and the last one.
#define QUIRE_LONG_STATEMENT(name)                                       \
  QUIRE_LIBC void _gfortran_st_##name(statement* s) {                    \
    check(*s);                                                           \
    ++t_within;                                                          \
    QUIRE_NEXT_AS(statement_function, "_gfortran_st_" #name)(s);         \
  }                                                                      \
  QUIRE_LIBC void _gfortran_st_##name##_done(statement* s) {             \
    QUIRE_NEXT_AS(statement_function, "_gfortran_st_" #name "_done")(s); \
    --t_within;                                                          \
  }
QUIRE_LONG_STATEMENT(write)
QUIRE_LONG_STATEMENT(read)

#define QUIRE_SHORT_STATEMENT(name)                              \
  QUIRE_LIBC void _gfortran_st_##name(statement* s) {            \
    check(*s);                                                   \
    ++t_within;                                                  \
    QUIRE_NEXT_AS(statement_function, "_gfortran_st_" #name)(s); \
    --t_within;                                                  \
  }
QUIRE_SHORT_STATEMENT(rewind)
QUIRE_SHORT_STATEMENT(backspace)
QUIRE_SHORT_STATEMENT(endfile)

QUIRE_LIBC void _gfortran_st_open(statement* s) {
  ++t_within;
  QUIRE_NEXT_AS(statement_function, "_gfortran_st_open")(s);
  --t_within;
  if ((s->flags & to_new_unit) == 0) note_opened(*s);
}

QUIRE_LIBC void _gfortran_st_close(statement* s) {
  const std::int32_t unit = s->unit;
  check_owner(unit);
  ++t_within;
  QUIRE_NEXT_AS(statement_function, "_gfortran_st_close")(s);
  --t_within;
  note_owner(unit);
}
