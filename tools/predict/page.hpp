// SPDX-License-Identifier: BSD-3-Clause
// The page of a prediction, for a browser, and what it computes with: each number of nodes on a grid of networks.
#pragma once

#include <string>
#include <vector>

#include "predict/prediction.hpp"
#include "predict/replay.hpp"

namespace quire::tools::predict {

inline const std::vector<double> grid_latencies_us{0.5, 2, 8, 32, 128, 512};
inline const std::vector<double> grid_megabytes{12, 60, 300, 1'500, 7'500, 40'000};

/// Rows by latency, columns by bandwidth.
[[nodiscard]] std::vector<std::vector<outcome>> grid_of(const std::vector<node_events>& job, const hardware& on);

struct page_entry {
  prediction told{};
  std::vector<std::vector<outcome>> grid{};
};
[[nodiscard]] std::string page(const std::vector<page_entry>& all, const network& net, const std::string& command,
                               const std::vector<std::string>& reasons);

}  // namespace quire::tools::predict
