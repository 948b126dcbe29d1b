// SPDX-License-Identifier: BSD-3-Clause
// NAS EP: pairs of Gaussian deviates by acceptance and rejection (NAS Parallel Benchmarks, RNR-94-007; the program: NPB
// 2.3). The code that all programs share. Batches of pairs are independent of each other: a worker computes its own
// batches and meets the others once, to add up.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/random.hpp"
#include "common/worker.hpp"

namespace ep {

inline constexpr std::uint64_t pairs_of_batch = 1 << 16;

/// Sums of the deviates, and how many pairs fall into each square ring around 0.
struct tally {
  double x = 0;
  double y = 0;
  std::array<double, 10> rings{};
};

inline void add_batch(tally& found, std::uint64_t batch) {
  apps::random_numbers random(271828183);
  random.skip(2 * pairs_of_batch * batch);
  for (std::uint64_t i = 0; i < pairs_of_batch; ++i) {
    const double a = 2 * random.next() - 1;
    const double b = 2 * random.next() - 1;
    const double square = a * a + b * b;
    if (square > 1) continue;
    const double factor = std::sqrt(-2 * std::log(square) / square);
    const double x = a * factor;
    const double y = b * factor;
    found.x += x;
    found.y += y;
    found.rings[static_cast<std::size_t>(std::max(std::abs(x), std::abs(y)))] += 1;
  }
}

/// The batches [begin, end) of a worker.
struct batch_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

template <apps::worker Worker>
[[nodiscard]] batch_range batches_of(const Worker& me, std::uint64_t batches) {
  return {batches * me.number() / me.count(), batches * (me.number() + 1) / me.count()};
}

/// The tally of all workers.
template <apps::worker Worker>
[[nodiscard]] tally add_up(Worker& me, const tally& mine) {
  std::array<double, 2 + std::tuple_size_v<decltype(tally::rings)>> values{mine.x, mine.y};
  std::copy(mine.rings.begin(), mine.rings.end(), values.begin() + 2);
  values = me.sum(values);
  tally all{values[0], values[1], {}};
  std::copy(values.begin() + 2, values.end(), all.rings.begin());
  return all;
}

/// What one worker does; shown(done, of) tells how far it is.
template <apps::worker Worker, class Shown>
[[nodiscard]] tally compute(Worker& me, std::uint64_t batches, const Shown& shown) {
  const auto mine = batches_of(me, batches);
  tally found;
  for (std::uint64_t batch = mine.begin; batch < mine.end; ++batch) {
    add_batch(found, batch);
    shown(batch + 1 - mine.begin);
  }
  return add_up(me, found);
}

}  // namespace ep
