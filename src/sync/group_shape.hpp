// SPDX-License-Identifier: BSD-3-Clause
// How many threads of which nodes a group has. Its members have numbers: first those of the first node, in the order of
// their places there, then those of the next.
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

  /// The job: one thread of each of so many nodes. Takes no memory for each.
  [[nodiscard]] static group_shape of_job(unsigned nodes) {
    group_shape job({});
    job.one_each_ = nodes;
    return job;
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
  [[nodiscard]] bool is_whole() const noexcept { return is_job() || nodes_.size() + 1 == first_.size(); }
  [[nodiscard]] std::uint32_t members() const noexcept { return is_job() ? one_each_ : first_.back(); }
  [[nodiscard]] std::uint32_t threads_of(node_id n) const noexcept {
    return is_job() ? 1 : first_[n.value() + 1u] - first_[n.value()];
  }
  /// The number of a node's first member.
  [[nodiscard]] std::uint32_t first_of(node_id n) const noexcept { return is_job() ? n.value() : first_[n.value()]; }
  /// The node of a member.
  [[nodiscard]] node_id node_of(std::uint32_t member) const noexcept {
    if (is_job()) return node_id{static_cast<std::uint16_t>(member)};
    const auto next = std::upper_bound(first_.begin(), first_.end(), member);
    return node_id{static_cast<std::uint16_t>(next - first_.begin() - 1)};
  }
  /// Nodes that have threads in it.
  [[nodiscard]] unsigned nodes() const noexcept { return is_job() ? one_each_ : static_cast<unsigned>(nodes_.size()); }
  /// The one at a place, in ascending order.
  [[nodiscard]] node_id node_at(unsigned place) const noexcept {
    return is_job() ? node_id{static_cast<std::uint16_t>(place)} : nodes_[place];
  }
  /// The place of a node among them, whether it is one or not.
  [[nodiscard]] unsigned place_of(node_id n) const noexcept {
    if (is_whole()) return n.value();
    return static_cast<unsigned>(std::lower_bound(nodes_.begin(), nodes_.end(), n) - nodes_.begin());
  }

 private:
  [[nodiscard]] bool is_job() const noexcept { return one_each_ != 0; }
  std::uint32_t one_each_ = 0;                 ///< of the job: its nodes
  base::fault_vector<std::uint32_t> first_{};  ///< of each node, and one more: the number of members
  base::fault_vector<node_id> nodes_{};
};

}  // namespace quire::sync
