// SPDX-License-Identifier: BSD-3-Clause
// The random order in which pages are touched: always the same for a number of pages, and with no neighbours that a
// read-ahead could profit from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace bench {

inline constexpr std::size_t page_bytes = 4096;

[[nodiscard]] inline std::vector<std::size_t> random_order(std::size_t pages, std::uint32_t seed = 1) {
  std::vector<std::size_t> order(pages);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  return order;
}

}  // namespace bench
