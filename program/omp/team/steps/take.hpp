// SPDX-License-Identifier: BSD-3-Clause
// The atomic steps by which threads take parts of a loop from a counter. A counter serves one loop of a region after
// the other: its word has the loop's number above, and the iterations that are taken below. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace quire::program::steps {

constexpr unsigned number_shift = 40;
constexpr std::uint64_t taken_mask = (std::uint64_t{1} << number_shift) - 1;

struct taken {
  std::uint64_t first, end;
};

/// The next part of loop `number`; an empty one when nothing is left. `size(left)`: how large a part is. Who comes
/// first to a loop finds the number of an older one, and begins anew. A thread may come so late that the counter is a
/// later loop's: nothing of its own is left then, as nobody leaves a loop before.
template <class Word, class Size>
[[nodiscard]] taken take(Word& word, std::uint64_t number, std::uint64_t iterations, Size&& size) noexcept {
  for (std::uint64_t now = number << number_shift;;) {
    const std::uint64_t of = now >> number_shift, first = of == number ? now & taken_mask : 0;
    if (of > number || first >= iterations) return {iterations, iterations};
    const std::uint64_t left = iterations - first, end = first + std::min(left, size(left));
    if (word.compare_exchange_strong(now, number << number_shift | end)) return {first, end};
  }
}

}  // namespace quire::program::steps
