// SPDX-License-Identifier: BSD-3-Clause
// Input and output statements of Fortran are calls of libgfortran, which each node has for itself. Between the first
// call of a statement and its last a thread holds its unit, and what libgfortran allocates is the unit's.
#include "openmp/fortran/units.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdio>

#include "openmp/libc/interpose.hpp"
#include "openmp/memory/heap.hpp"
#include "openmp/start/fail.hpp"
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

bool is_of_all_nodes(std::int32_t unit) noexcept { return unit == 0 || unit == 5 || unit == 6; }

void note_opened(const statement& s) noexcept {
  const std::size_t at = g_opened_count.fetch_add(1, std::memory_order_acq_rel);
  if (at < most_opened) g_opened[at].store(s.unit, std::memory_order_release);
}

/// A unit that node 0 has opened is none here: libgfortran would make a file fort.N instead.
void check(const statement& s) noexcept {
  if (job().node == 0 || (s.flags & to_text) != 0 || s.unit < 0 || is_of_all_nodes(s.unit)) return;
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
