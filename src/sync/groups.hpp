// SPDX-License-Identifier: BSD-3-Clause
// The groups of threads that a node knows: the job, which is always there, and those that were made. All nodes make and
// destroy the same groups in the same order, between barriers of the job, so no message comes for one that is not known
// yet.
#pragma once

#include <memory>
#include <unordered_map>

#include "base/fault_heap.hpp"
#include "sync/collective.hpp"

namespace quire::sync {

class group_part {
 public:
  group_part(context& c, array_limits limits)
      : shared_(c), limits_(limits), job_(c, {}, group_shape::of_job(c.nodes), limits) {}

  /// A group of so many threads of each node, `c.data`. None if there is no such group.
  [[nodiscard]] object_id create(const call& c);
  /// All other calls about groups, and collectives of the job.
  void on_call(const call& c, actions& out);
  /// gather, spread, piece_up, piece_down, survey.
  void on_message(const message& m, std::span<const std::byte> payload, actions& out);
  /// As of collective.
  [[nodiscard]] bool is_last(const call& c) const noexcept;
  [[nodiscard]] node_id next_told(const call& c) const noexcept;
  [[nodiscard]] const group_shape* shape_of(object_id id) const noexcept;
  /// The tree of the job's collectives.
  [[nodiscard]] const tree& hierarchy() const noexcept { return job_.hierarchy(); }

  /// f(group), the job first.
  template <class F>
  void for_each(F&& f) {
    f(job_);
    for (auto& [id, group] : groups_) f(*group);
  }
  /// f(group, threads that have called, members) for groups at which threads of this node wait for others.
  template <class F>
  void for_each_arrival(F&& f) const {
    for (const auto& [id, group] : groups_) {
      if (group->arrived() != 0) f(id, group->arrived(), group->shape().members());
    }
  }
  [[nodiscard]] bool is_valid() const noexcept;

 private:
  [[nodiscard]] collective* find(object_id id) noexcept;

  context& shared_;
  array_limits limits_;
  collective job_;
  base::fault_hash_map<object_id, base::fault_ptr<collective>> groups_{};
  std::uint64_t made_ = 0;
};

}  // namespace quire::sync
