// SPDX-License-Identifier: BSD-3-Clause
// Cities, and how far they are from each other.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "common/random.hpp"

namespace tsp {

inline constexpr std::size_t most_cities = 32;

using length = std::int32_t;
using cities = std::uint32_t;  ///< a set: a bit each

class map {
 public:
  /// At random in a square, by a seed.
  map(std::size_t count, std::uint64_t seed) : count_(count) {
    apps::random_numbers random(2 * seed + 1);
    std::array<std::array<double, 2>, most_cities> places{};
    for (auto& place : places)
      for (double& coordinate : place) coordinate = 1000 * random.next();
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = 0; b < count; ++b)
        far_[a][b] =
            static_cast<length>(std::lround(std::hypot(places[a][0] - places[b][0], places[a][1] - places[b][1])));
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] cities all() const { return static_cast<cities>((std::uint64_t{1} << count_) - 1); }
  [[nodiscard]] length between(std::size_t a, std::size_t b) const { return far_[a][b]; }

  /// No way from `from` over all of `left` and home to city 0 is shorter than this: the smallest spanning tree of them
  /// all (Prim's algorithm).
  [[nodiscard]] length at_least(std::size_t from, cities left) const {
    std::array<length, most_cities> near;
    cities open = left | 1;
    for (std::size_t c = 0; c < count_; ++c) near[c] = far_[from][c];
    length sum = 0;
    while (open != 0) {
      std::size_t next = 0;
      length shortest = std::numeric_limits<length>::max();
      for (std::size_t c = 0; c < count_; ++c)
        if ((open >> c & 1) != 0 && near[c] < shortest) shortest = near[c], next = c;
      sum += shortest;
      open &= ~(cities{1} << next);
      for (std::size_t c = 0; c < count_; ++c) near[c] = std::min(near[c], far_[next][c]);
    }
    return sum;
  }

 private:
  std::size_t count_;
  std::array<std::array<length, most_cities>, most_cities> far_{};
};

}  // namespace tsp
