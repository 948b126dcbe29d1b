// SPDX-License-Identifier: BSD-3-Clause
// Which nodes of a job may die at the same moment, as they run on one host: its failure domains. Content that is kept
// on two nodes is kept in two of them, where there are two (HDFS and Ceph place replicas so). Plain data.
#pragma once

#include <bit>
#include <cstdint>

#include "model/ids.hpp"

namespace quire::model {

/// Of at most 64 nodes, a bit each.
struct failure_domains {
  const std::uint16_t* first = nullptr;  ///< [node]: the first of its domain, itself perhaps; null: one domain each
  unsigned nodes = 0;                    ///< of the job; of no meaning without `first`

  /// The nodes of one's domain.
  [[nodiscard]] constexpr std::uint64_t of(node_id node) const noexcept {
    if (first == nullptr) return std::uint64_t{1} << node.value();
    std::uint64_t found = 0;
    for (unsigned n = 0; n < nodes; ++n) found |= first[n] == first[node.value()] ? std::uint64_t{1} << n : 0;
    return found;
  }
  /// How many domains have nodes among these.
  [[nodiscard]] constexpr int count(std::uint64_t among) const noexcept {
    if (first == nullptr) return std::popcount(among);
    std::uint64_t found = 0;
    for (unsigned n = 0; n < nodes; ++n) found |= (among >> n & 1) != 0 ? std::uint64_t{1} << first[n] : 0;
    return std::popcount(found);
  }
  friend bool operator==(failure_domains, failure_domains) noexcept = default;
};

}  // namespace quire::model
