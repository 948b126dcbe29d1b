// SPDX-License-Identifier: BSD-3-Clause
// What threads of this node use under a lock: a plan for each lock, as for a phase (phase_plans.hpp). When the lock
// comes from another node, so shall what was used under it the last times: what entry consistency (Bershad and
// Zekauskas, Midway, 1991) has programs declare is learnt here. A unit that is used under several locks is in no plan:
// to fetch it for one would take it from those who hold another. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/fault_heap.hpp"
#include "core/plans/phase_plans.hpp"
#include "model/ids.hpp"

namespace quire::core {

class lock_plans {
 public:
  static constexpr unsigned most_units = 64;           ///< that are asked for with a lock
  static constexpr std::size_t most_known = 65'536;    ///< units of which the locks are known; then all are forgotten
  static constexpr unsigned most_passed_over = 1'000;  ///< critical sections beside one; then that is given up

  /// A critical section begins. False if another one of this node is looked at: of one at a time.
  [[nodiscard]] bool enter(std::uint64_t lock) noexcept {
    if (lock_ != 0 && ++passed_over_ < most_passed_over) return false;
    if (begun_) leave();
    lock_ = lock;
    passed_over_ = 0;
    return true;
  }
  /// Its plan is wanted, or it uses something: one that does neither costs nothing. False: so it was before.
  bool begin() noexcept {
    if (begun_ || lock_ == 0) return false;
    begun_ = true;
    asked_ = 0;
    plans_.begin(lock_);
    return true;
  }
  /// The lock is given back. False if it is not that of the section.
  [[nodiscard]] bool end(std::uint64_t lock) noexcept {
    if (lock_ == 0 || lock != lock_) return false;
    lock_ = 0;
    if (begun_) leave();
    return true;
  }
  /// After begin().
  void note(model::region_id region, std::uint64_t unit, bool write, phase_plans::use how) noexcept {
    if (is_of_lock(phase_plans::place_of(region, unit))) plans_.note(region, unit, write, how);
  }
  /// As of phase_plans.
  [[nodiscard]] std::optional<phase_plans::need> next() noexcept {
    while (asked_++ < most_units) {
      const auto n = plans_.next();
      if (!n || is_of_lock(phase_plans::place_of(n->region, n->unit))) return n;
    }
    return {};
  }
  [[nodiscard]] phase_plans& plans() noexcept { return plans_; }
  [[nodiscard]] const phase_plans& plans() const noexcept { return plans_; }

 private:
  static constexpr std::uint64_t several = ~std::uint64_t{0};
  void leave() noexcept {
    begun_ = false;
    plans_.begin(0);
  }
  /// Of no other so far.
  [[nodiscard]] bool is_of_lock(std::uint64_t place) noexcept {
    if (locks_.size() == most_known && !locks_.contains(place)) locks_.clear();
    std::uint64_t& known = locks_.try_emplace(place, lock_).first->second;
    if (known != lock_) known = several;
    return known == lock_;
  }

  phase_plans plans_{};
  base::fault_hash_map<std::uint64_t, std::uint64_t> locks_{};  ///< under which a unit is used, by its place
  std::uint64_t lock_ = 0;                                      ///< of the section; 0: there is none
  unsigned passed_over_ = 0, asked_ = 0;
  bool begun_ = false;
};

}  // namespace quire::core
