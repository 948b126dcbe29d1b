// SPDX-License-Identifier: BSD-3-Clause
// The units that a node has pinned, or that its threads wait to pin (KOAN: page locking), with the order that waits for
// the end of a pin. One table per node, for the machines of all regions; bounded, so that no node can take all memory
// for itself. It does not allocate but when it grows. Driver's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "base/fault_heap.hpp"
#include "model/message.hpp"

namespace quire::directory {

/// One unit of the table.
struct pin {
  std::uint64_t unit = 0;
  std::uint32_t count = 0;  ///< threads' calls that pin it, those that wait included; 0: the place is free
  model::region_id region{};
  model::message
      waiting{};  ///< sequential: the manager's order that is obeyed at the end of the pin; kind invalid: none
};

/// A hash table with linear probing; removal moves those behind it up, so that there are no tombstones.
class pin_table {
 public:
  static constexpr std::size_t default_limit = 4096;
  explicit pin_table(std::size_t limit = default_limit) : limit_(limit) {}

  /// Null if the unit is not in the table. Valid until the next add() or remove().
  [[nodiscard]] pin* find(model::region_id region, std::uint64_t unit) noexcept {
    return const_cast<pin*>(static_cast<const pin_table*>(this)->find(region, unit));
  }
  [[nodiscard]] const pin* find(model::region_id region, std::uint64_t unit) const noexcept {
    if (size_ == 0) return nullptr;
    const pin& p = places_[place_of(region, unit)];
    return p.count != 0 ? &p : nullptr;
  }
  /// Counts one more; a unit that is new to the table must have room. False if there is none.
  [[nodiscard]] bool add(model::region_id region, std::uint64_t unit) {
    if (pin* const known = find(region, unit); known != nullptr) {
      ++known->count;
      return true;
    }
    if (size_ >= limit_ + beyond_) return false;
    if (2 * (size_ + 1) > places_.size()) grow();
    pin& p = places_[place_of(region, unit)];
    p = {unit, 1, region, {}};
    ++size_;
    return true;
  }
  void remove(model::region_id region, std::uint64_t unit) noexcept {
    std::size_t hole = place_of(region, unit);
    CHECK(places_[hole].count != 0);
    places_[hole] = {};
    --size_;
    for (std::size_t at = next(hole); places_[at].count != 0; at = next(at)) {
      const std::size_t home = hash(places_[at].region, places_[at].unit);
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;  // its home lies behind the hole
      places_[hole] = places_[at];
      places_[at] = {};
      hole = at;
    }
  }

  /// So many more than the limit may be in the table for now.
  void allow_beyond(std::size_t units) noexcept { beyond_ = units; }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  template <class F>
  void for_each(F&& f) const {
    for (const pin& p : places_) {
      if (p.count != 0) f(p);
    }
  }

 private:
  [[nodiscard]] std::size_t mask() const noexcept { return places_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & mask(); }
  [[nodiscard]] std::size_t hash(model::region_id region, std::uint64_t unit) const noexcept {
    return ((unit + (std::uint64_t{region.value()} << 40)) * 0x9e3779b97f4a7c15u >> 32) & mask();
  }
  /// Where the unit is, or the free place where it would go.
  [[nodiscard]] std::size_t place_of(model::region_id region, std::uint64_t unit) const noexcept {
    std::size_t at = hash(region, unit);
    while (places_[at].count != 0 && (places_[at].unit != unit || places_[at].region != region)) at = next(at);
    return at;
  }
  void grow() {
    base::fault_vector<pin> old(places_.empty() ? 8 : 2 * places_.size());
    old.swap(places_);
    for (const pin& p : old) {
      if (p.count != 0) places_[place_of(p.region, p.unit)] = p;
    }
  }

  base::fault_vector<pin> places_{};  ///< a power of two, at most half full
  std::size_t size_ = 0;
  std::size_t limit_, beyond_ = 0;
};

}  // namespace quire::directory
