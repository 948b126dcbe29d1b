// SPDX-License-Identifier: BSD-3-Clause
// Which place a thread of a team gets (OpenMP 5.0, section 2.6.2), among the places of its node. Pure.
#pragma once

#include <cstdint>

namespace quire::program {

/// As omp_proc_bind_t has it.
enum class binding : std::uint8_t { none = 0, fixed = 1, primary = 2, close = 3, spread = 4 };

/// Places that a thread's regions may use: consecutive ones.
struct partition {
  int first = 0, count = 0;
  bool operator==(const partition&) const = default;
};
struct seat {
  int place = -1;
  partition part{};
  bool operator==(const seat&) const = default;
};

/// The block of thread `thread`, if `items` are dealt out in blocks to `threads`; the first blocks are larger by one.
[[nodiscard]] constexpr partition block_of(int items, int threads, int thread) noexcept {
  const int size = items / threads, larger = items % threads;
  return {thread * size + (thread < larger ? thread : larger), size + (thread < larger ? 1 : 0)};
}
/// Whose block has `item`.
[[nodiscard]] constexpr int holder_of(int items, int threads, int item) noexcept {
  const int size = items / threads, larger = items % threads, in_larger = larger * (size + 1);
  return item < in_larger ? item / (size + 1) : larger + (item - in_larger) / size;
}

/// Thread `thread` of `threads`; its master has the seat `of`.
[[nodiscard]] constexpr seat seat_of(binding how, int threads, int thread, const seat& of) noexcept {
  const partition all = of.part;
  if (how == binding::none || all.count == 0) return of;
  if (how == binding::primary) return {of.place, all};
  const int start = of.place - all.first;
  if (threads > all.count) {
    const int place = all.first + (start + holder_of(threads, all.count, thread)) % all.count;
    return {place, how == binding::spread ? partition{place, 1} : all};
  }
  if (how != binding::spread) return {all.first + (start + thread) % all.count, all};
  const int mine = (holder_of(all.count, threads, start) + thread) % threads;
  const partition part = block_of(all.count, threads, mine);
  return {thread == 0 ? of.place : all.first + part.first, {all.first + part.first, part.count}};
}

}  // namespace quire::program
