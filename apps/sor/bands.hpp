// SPDX-License-Identifier: BSD-3-Clause
// How a block of rows is divided where its rows are computed in transactions: into the upper and the lower half, and
// each half into bands, a transaction each. For the program and for the model of it (sim/timed/pattern_sor.cpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/partition.hpp"

namespace sor {

struct halves {
  apps::row_range upper, lower;
};
[[nodiscard]] constexpr halves halves_of(apps::row_range inner) {
  const std::size_t half = inner.begin + (inner.end - inner.begin + 1) / 2;
  return {{inner.begin, half}, {half, inner.end}};
}

/// The bands of a half, in the order of their turns. The rows of the neighbour come while others are computed, so the
/// band at the border is the last one. Who commits it dooms the neighbour's transaction, which had read these rows
/// before; the neighbour is at its last band then, and that is short. No band has more than a quarter of the rows, or
/// than 2 MiB.
[[nodiscard]] inline std::vector<apps::row_range> bands_of(apps::row_range half, bool border_above,
                                                           std::size_t row_bytes) {
  constexpr std::size_t most_bytes = std::size_t{2} << 20;
  const std::size_t rows = half.end - half.begin;
  const std::size_t most = std::max<std::size_t>(std::min(most_bytes / row_bytes, (rows + 3) / 4), 1);
  const std::size_t last = std::min(std::max<std::size_t>(rows / 16, 1), most);
  std::vector<apps::row_range> all;
  for (std::size_t done = 0; done < rows;) {
    const std::size_t left = rows - done, some = left > last ? std::min(most, left - last) : left;
    all.push_back(border_above ? apps::row_range{half.end - done - some, half.end - done}
                               : apps::row_range{half.begin + done, half.begin + done + some});
    done += some;
  }
  return all;
}

}  // namespace sor
