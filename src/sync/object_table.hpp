// SPDX-License-Identifier: BSD-3-Clause
// What a node knows of the objects it has to do with, by object. Entries that are dropped are used again, so that
// objects which come and go (a mutex whose right to lock visits this node) allocate nothing in the long run.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/fault_heap.hpp"
#include "sync/object_id.hpp"

namespace quire::sync {

template <class State>
class object_table {
  using map = base::fault_hash_map<object_id, State>;

 public:
  [[nodiscard]] State* find(object_id id) noexcept {
    const auto found = entries_.find(id);
    return found == entries_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const State* find(object_id id) const noexcept { return const_cast<object_table*>(this)->find(id); }
  /// A fresh entry for an object that has none.
  State& make(object_id id) {
    if (spare_.empty()) {
      const auto [at, fresh] = entries_.try_emplace(id);
      CHECK(fresh);
      return at->second;
    }
    auto node = std::move(spare_.back());
    spare_.pop_back();
    node.key() = id;
    node.mapped() = State{};
    const auto added = entries_.insert(std::move(node));
    CHECK(added.inserted);
    return added.position->second;
  }
  void drop(object_id id) { spare_.push_back(entries_.extract(id)); }

  [[nodiscard]] auto begin() noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() noexcept { return entries_.end(); }
  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  map entries_;
  base::fault_vector<typename map::node_type> spare_;
};

}  // namespace quire::sync
