// SPDX-License-Identifier: BSD-3-Clause
// Loops as gcc describes them, for the files that have its calls.
#pragma once

#include <algorithm>
#include <cstdint>

#include "program/omp/team/doacross.hpp"
#include "program/omp/team/take.hpp"
#include "program/omp/team/team.hpp"

namespace quire::program::gomp {

using schedule = loop::schedule;
using whole = unsigned long long;

/// Bounds as 64 bits, whatever their sign: iterations are counted from the beginning.
inline loop describe(bool rises, whole start, whole end, whole step, bool none, schedule how, long chunk) noexcept {
  loop l;
  l.start = static_cast<std::int64_t>(start);
  l.step = static_cast<std::int64_t>(step);
  l.how = how == schedule::blocks && chunk > 0 ? schedule::rounds : how;
  l.chunk = static_cast<std::uint64_t>(std::max(chunk, 1L));
  const whole way = rises ? end - start : start - end, stride = rises ? step : 0 - step;
  l.iterations = none ? 0 : (way - 1) / stride + 1;
  return l;
}

inline loop of(long start, long end, long step, schedule how, long chunk) noexcept {
  return describe(step > 0, static_cast<whole>(start), static_cast<whole>(end), static_cast<whole>(step),
                  step > 0 ? start >= end : start <= end, how, chunk);
}
inline loop of(bool up, whole start, whole end, whole step, schedule how, whole chunk) noexcept {
  return describe(up, start, end, step, up ? start >= end : start <= end, how,
                  static_cast<long>(std::min<whole>(chunk, 1ull << 40)));
}
inline schedule usual() noexcept { return own_variables().schedule; }
inline long usual_chunk() noexcept { return static_cast<long>(own_variables().chunk); }

template <class Integer>
bool next(Integer* first, Integer* end) noexcept {
  part p;
  end_doacross_part();
  if (!next_part(p)) return false;
  begin_doacross_part();
  const loop& l = me().in;
  const auto bound = [&](std::uint64_t n) {
    return static_cast<Integer>(static_cast<std::uint64_t>(l.start) + n * static_cast<std::uint64_t>(l.step));
  };
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
inline loop sections(unsigned count) noexcept {
  loop all = of(1, static_cast<long>(count) + 1, 1, schedule::taken, 1);
  all.sections = true;
  return all;
}
inline unsigned next_section() noexcept {
  long first = 0, end = 0;
  return next(&first, &end) ? static_cast<unsigned>(first) : 0;
}

}  // namespace quire::program::gomp
