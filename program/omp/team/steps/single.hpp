// SPDX-License-Identifier: BSD-3-Clause
// The atomic steps of `single`. Pure: a word is anything that has these operations of std::atomic<std::uint64_t>.
// omp/team/single.cpp gives those of the team, tests/openmp/steps words on which it tries all orders of steps.
#pragma once

#include <cstdint>

namespace quire::program::steps {

constexpr unsigned region_shift = 32;

/// Whether the caller is the first to claim construct `number`, counted from 1 in the region. `last` has the region
/// above, and the last construct that is claimed below. Nobody comes to a construct before the one in front of it is
/// claimed: so `last` grows by one at a time.
template <class Word>
[[nodiscard]] bool claim(Word& last, std::uint64_t region, std::uint64_t number) noexcept {
  const std::uint64_t base = region << region_shift;
  std::uint64_t now = base | (number - 1);
  for (;;) {
    if (last.compare_exchange_strong(now, base | number)) return true;
    if ((now ^ base) >> region_shift == 0 && now >= (base | number)) return false;
  }
}

/// The threads of a node hear that the constructs up to `number` are claimed.
template <class Word>
void hear(Word& heard, std::uint64_t number) noexcept {
  std::uint64_t before = number - 1;
  while (before < number && !heard.compare_exchange_weak(before, number)) {
  }
}

/// Whether the caller is the first thread at construct `number`, in a team whose threads are all on one node.
template <class Word>
[[nodiscard]] bool is_first_on_node(Word& claimed, std::uint64_t number) noexcept {
  std::uint64_t before = number - 1;
  return claimed.compare_exchange_strong(before, number);
}

/// The same in a team of all nodes. `last` is a word of all nodes; `heard` is the node's own, and saves a message.
template <class Shared, class Own>
[[nodiscard]] bool is_first_of_all(Shared& last, Own& heard, std::uint64_t region, std::uint64_t number) noexcept {
  if (heard.load() >= number) return false;
  const bool first = claim(last, region, number);
  // Only now may the node's other threads pass without a message of their own: a thread that passed before could claim
  // the next construct first.
  hear(heard, number);
  return first;
}

}  // namespace quire::program::steps
