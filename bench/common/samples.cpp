// SPDX-License-Identifier: BSD-3-Clause
#include "common/samples.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace bench {

double samples::quantile(double share) const {
  auto sorted = values_;
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

void samples::print() const {
  if (empty()) return;
  const double mean = std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(values_.size());
  std::printf(
      "{\"name\": \"%s\", \"unit\": \"%s\", \"count\": %zu, \"median\": %.6g, \"mean\": %.6g, \"min\": %.6g, \"p90\": "
      "%.6g}\n",
      name_.c_str(), unit_.c_str(), values_.size(), median(), mean, quantile(0), quantile(0.9));
  std::fflush(stdout);
}

}  // namespace bench
