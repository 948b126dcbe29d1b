// SPDX-License-Identifier: BSD-3-Clause
// Locks of ranges of bytes on containers, as fcntl and flock have them, for the whole job: an owner's locks never
// conflict with its own, a new one replaces what it overlaps, and locks of fcntl and of flock do not know each other.
// Nobody waits here: lock_queue.hpp. Pure. lock_table.cpp.
#pragma once

#include <cstdint>

#include "base/fault_heap.hpp"

namespace quire::container {

enum class lock_kind : std::uint8_t { none, shared, exclusive };

struct lock_owner {
  std::uint64_t number = 0;  ///< what the owner's kernel calls it: a process, or an open file
  std::uint16_t node = 0;
  bool of_flock = false;
  friend bool operator==(const lock_owner&, const lock_owner&) noexcept = default;
};

struct range_lock {
  lock_owner owner{};
  lock_kind kind = lock_kind::none;
  std::uint64_t first = 0, last = 0;  ///< bytes, both of the range
};

/// Whether two owners cannot have both at a time.
[[nodiscard]] constexpr bool conflict_of(const range_lock& a, const range_lock& b) noexcept {
  return a.owner.of_flock == b.owner.of_flock && !(a.owner == b.owner) && a.first <= b.last && b.first <= a.last &&
         a.kind != lock_kind::none && b.kind != lock_kind::none &&
         (a.kind == lock_kind::exclusive || b.kind == lock_kind::exclusive);
}

class lock_table {
 public:
  static constexpr std::size_t most = 100'000;  ///< of all containers
  enum class outcome : std::uint8_t { done, in_the_way, full };

  /// Of kind none: what the owner has there goes, and that is always done.
  [[nodiscard]] outcome set(std::uint16_t container, const range_lock& wanted);
  /// One that another owner has, with which `wanted` conflicts; null: none.
  [[nodiscard]] const range_lock* conflict(std::uint16_t container, const range_lock& wanted) const noexcept;
  /// Calls f(lock) for each one with which `wanted` conflicts.
  template <class F>
  void for_each_conflict(std::uint16_t container, const range_lock& wanted, F f) const {
    const auto at = held_.find(container);
    if (at == held_.end()) return;
    for (const range_lock& one : at->second) {
      if (conflict_of(one, wanted)) f(one);
    }
  }
  /// The container has gone.
  void drop(std::uint16_t container) noexcept;
  /// The node is lost, and all of its owners.
  void lost(unsigned node) noexcept;
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  base::fault_map<std::uint16_t, base::fault_vector<range_lock>>
      held_{};  ///< of one owner: disjoint, and no two of a kind touch
  std::size_t count_ = 0;
};

}  // namespace quire::container
