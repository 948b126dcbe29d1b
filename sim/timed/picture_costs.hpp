// SPDX-License-Identifier: BSD-3-Clause
// How long the parts of the ray tracer's picture take: sky above, mirrors and floor below. Milliseconds of 4 rows of 1024 x 768 each, by the
// kernel in apps/raytracer/trace.hpp alone: processor time, the best of five. Only what they are to each other is used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace quire::timed {

inline constexpr std::array picture_costs{
    2.8, 2.8, 2.8, 2.8, 2.7, 2.8, 2.8, 2.7, 2.8, 2.8, 2.7, 2.7, 2.8, 2.8, 2.7, 2.8, 2.8, 2.8, 2.8, 2.7, 2.8, 2.8, 2.8, 2.7,
    2.8, 2.8, 2.7, 2.8, 2.8, 2.7, 2.8, 2.8, 2.8, 2.7, 2.8, 2.8, 2.7, 2.7, 2.9, 3.0, 3.0, 3.1, 3.2, 3.3, 3.8, 3.9, 4.1, 4.3,
    5.0, 11.0, 10.8, 11.3, 11.7, 11.6, 11.5, 11.4, 11.2, 11.3, 11.6, 11.6, 11.6, 12.0, 12.4, 12.8, 13.0, 12.9, 12.7, 12.7, 12.4, 12.4, 12.5, 12.8,
    12.9, 12.8, 12.6, 12.5, 12.7, 12.8, 12.6, 12.6, 12.7, 12.6, 12.6, 12.6, 12.5, 12.5, 12.8, 13.2, 13.7, 14.2, 14.2, 14.0, 14.3, 15.2, 15.8, 15.9,
    16.0, 16.2, 16.3, 16.2, 16.2, 16.2, 16.3, 15.7, 15.2, 14.9, 15.1, 15.1, 14.7, 14.5, 14.6, 14.8, 15.6, 17.0, 17.1, 17.1, 17.0, 17.3, 17.4, 17.1,
    16.4, 16.4, 16.6, 16.7, 16.6, 16.1, 15.7, 15.3, 14.6, 13.7, 13.6, 13.6, 13.9, 13.9, 14.1, 14.4, 15.1, 15.0, 15.2, 15.7, 16.4, 16.2, 16.0, 15.8,
    15.7, 15.8, 16.2, 16.6, 17.1, 17.1, 17.3, 17.0, 17.3, 17.1, 16.9, 16.8, 16.6, 16.6, 16.5, 17.1, 17.1, 17.6, 17.8, 18.0, 18.4, 18.6, 18.8, 18.8,
    18.2, 17.9, 17.7, 17.8, 17.9, 17.6, 16.9, 16.4, 16.6, 16.7, 16.9, 17.3, 17.1, 17.4, 17.5, 17.4, 17.2, 17.2, 17.2, 17.0, 16.8, 16.9, 16.9, 16.8,
};

/// Of a row of a picture of so many, against the mean of all.
[[nodiscard]] constexpr double cost_of_row(std::uint64_t row, std::uint64_t height) noexcept {
  const double sum = std::accumulate(picture_costs.begin(), picture_costs.end(), 0.0);
  return picture_costs[row * picture_costs.size() / height] * static_cast<double>(picture_costs.size()) / sum;
}

}  // namespace quire::timed
