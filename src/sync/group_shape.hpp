// SPDX-License-Identifier: BSD-3-Clause
// How many threads of which nodes a group has. Its members have numbers: first those of the first node, in the order of their places there,
// then those of the next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/fault_heap.hpp"
#include "model/ids.hpp"

namespace quire::sync {

using model::node_id;

class group_shape {
 public:
  static constexpr unsigned most_members = 65'535;

  /// The job: one thread of each node.
  [[nodiscard]] static group_shape of_job(unsigned nodes) {
    const base::fault_vector<std::uint32_t> one_each(nodes, 1);
    return group_shape(one_each);
  }
  /// So many threads of each node of the job.
  explicit group_shape(std::span<const std::uint32_t> threads) {
    first_.push_back(0);
    for (std::uint16_t n = 0; n < threads.size(); ++n) {
      first_.push_back(first_.back() + threads[n]);
      if (threads[n] != 0) nodes_.push_back(node_id{n});
    }
  }
  /// Whether there is such a group.
  [[nodiscard]] static bool is_possible(std::span<const std::uint32_t> threads) noexcept {
    std::uint64_t sum = 0;
    for (const std::uint32_t n : threads) sum += n;
    return sum != 0 && sum <= most_members;
  }

  /// Every node has a thread in it.
  [[nodiscard]] bool is_whole() const noexcept { return nodes_.size() + 1 == first_.size(); }
  [[nodiscard]] std::uint32_t members() const noexcept { return first_.back(); }
  [[nodiscard]] std::uint32_t threads_of(node_id n) const noexcept { return first_[n.value() + 1u] - first_[n.value()]; }
  /// The number of a node's first member.
  [[nodiscard]] std::uint32_t first_of(node_id n) const noexcept { return first_[n.value()]; }
  /// The node of a member.
  [[nodiscard]] node_id node_of(std::uint32_t member) const noexcept {
    const auto next = std::upper_bound(first_.begin(), first_.end(), member);
    return node_id{static_cast<std::uint16_t>(next - first_.begin() - 1)};
  }
  /// Nodes that have threads in it, in ascending order.
  [[nodiscard]] std::span<const node_id> nodes() const noexcept { return nodes_; }
  /// The place of a node among them, whether it is one or not.
  [[nodiscard]] unsigned place_of(node_id n) const noexcept {
    if (is_whole()) return n.value();
    return static_cast<unsigned>(std::lower_bound(nodes_.begin(), nodes_.end(), n) - nodes_.begin());
  }

 private:
  base::fault_vector<std::uint32_t> first_{};  ///< of each node, and one more: the number of members
  base::fault_vector<node_id> nodes_{};
};

}  // namespace quire::sync
