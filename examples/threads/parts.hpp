// SPDX-License-Identifier: BSD-3-Clause
// Blocks of an index range, a thread each: the threads' programs have them from here, programs on Quire from
// quire::my_part().
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

/// Indices from `first` to one before `last`.
struct index_range {
  std::size_t first = 0, last = 0;
  [[nodiscard]] std::size_t size() const { return last - first; }
  template <class T>
  [[nodiscard]] std::span<T> of(std::span<T> all) const {
    return all.subspan(first, size());
  }
};

/// Block `number` of `n` indices in `count` blocks, which differ by one at most.
inline index_range part_of(std::size_t n, std::size_t number, std::size_t count) {
  const std::size_t each = n / count, more = n % count;
  const std::size_t first = number * each + std::min(number, more);
  return {first, first + each + (number < more ? 1 : 0)};
}
