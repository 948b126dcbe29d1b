// SPDX-License-Identifier: BSD-3-Clause
// A word for each iteration of the outermost level says how many of its inner ones are done. The words lie in shared
// memory, behind the loop's bounds.
#include "program/omp/team/doacross.hpp"

#include <sched.h>

#include "program/omp/team/common_memory.hpp"
#include "program/omp/team/team.hpp"
#include "program/posix/errands/output.hpp"
#include "program/process/fail.hpp"

namespace quire::program {
namespace {

/// In front of the words.
struct bounds {
  std::uint64_t levels, counts[most_doacross_levels];
};
constexpr std::uint64_t all_done = ~std::uint64_t{0};

bounds& bounds_of(std::uint64_t* rows) noexcept { return *(reinterpret_cast<bounds*>(rows) - 1); }

/// Of the inner levels, counted from the first of the outermost iteration.
std::uint64_t position_of(const bounds& b, const std::uint64_t* at) noexcept {
  std::uint64_t position = 0;
  for (unsigned i = 1; i < b.levels; ++i) position = position * b.counts[i] + at[i];
  return position;
}

void finish_rows(std::uint64_t before) noexcept {
  context& c = me();
  for (; c.row < before; ++c.row) __atomic_store_n(&c.rows[c.row], all_done, __ATOMIC_RELEASE);
}

}  // namespace

void begin_doacross(unsigned levels, const std::uint64_t* counts) noexcept {
  if (levels > most_doacross_levels) fail("a loop has more levels that wait for each other than 31", QUIRE_LIMIT);
  bool first = false;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(counts[0], sizeof(std::uint64_t), &bytes))
    fail("a doacross loop has too many iterations", QUIRE_LIMIT);
  auto* const b = static_cast<bounds*>(begin_common_memory(sizeof(bounds) + bytes, first));
  if (first) {
    b->levels = levels;
    for (unsigned i = 0; i < levels; ++i) b->counts[i] = counts[i];
    common_memory_ready(b);
  }
  me().rows = reinterpret_cast<std::uint64_t*>(b + 1);
  me().row = 0;
}

void end_doacross_part() noexcept {
  if (me().rows == nullptr) return;
  finish_rows(me().part_end);
}

void begin_doacross_part() noexcept { me().row = me().part_first; }

void post_iteration(const std::uint64_t* at) noexcept {
  context& c = me();
  if (c.rows == nullptr) return;
  finish_rows(at[0]);
  write_output();
  __atomic_store_n(&c.rows[at[0]], position_of(bounds_of(c.rows), at) + 1, __ATOMIC_RELEASE);
}

void wait_for_iteration(const std::uint64_t* at) noexcept {
  const context& c = me();
  if (c.rows == nullptr || c.count == 1) return;
  const bounds& b = bounds_of(c.rows);
  if (at[0] >= b.counts[0]) return;
  const std::uint64_t position = position_of(b, at);
  for (unsigned tries = 0; __atomic_load_n(&c.rows[at[0]], __ATOMIC_ACQUIRE) <= position; ++tries) {
    constexpr unsigned short_while = 1000;
    if (tries < short_while) {
      __builtin_ia32_pause();
    } else {
      ::sched_yield();
    }
  }
}

unsigned levels_of_loop() noexcept {
  return me().rows != nullptr ? static_cast<unsigned>(bounds_of(me().rows).levels) : 1;
}

}  // namespace quire::program
