// SPDX-License-Identifier: BSD-3-Clause
// A pool of small records with a free list: what a message in flight needs until it has completed. Used by ucx.cpp, by
// one thread at a time; take and give are a few instructions. Grows by whole chunks, only when all records are in use.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/check.hpp"
#include "base/fault_heap.hpp"

namespace quire::transport {

/// `Slot` has a member `Slot* next`, which is the pool's while the slot is free.
template <class Slot>
class slots {
 public:
  static constexpr std::size_t chunk = 256;

  slots() { grow(); }
  [[nodiscard]] Slot* take() noexcept {
    if (free_ == nullptr) grow();
    Slot* const slot = free_;
    free_ = slot->next;
    ++used_;
    return slot;
  }
  void give(Slot* slot) noexcept {
    ASSERT(used_ > 0);
    slot->next = free_;
    free_ = slot;
    --used_;
  }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }

 private:
  void grow() {
    auto& fresh = *chunks_.emplace_back(base::make_fault<std::array<Slot, chunk>>());
    for (Slot& slot : fresh) {
      slot.next = free_;
      free_ = &slot;
    }
  }

  Slot* free_ = nullptr;
  std::size_t used_ = 0;
  base::fault_vector<base::fault_ptr<std::array<Slot, chunk>>> chunks_;
};

}  // namespace quire::transport
