// SPDX-License-Identifier: BSD-3-Clause
// Where payloads land that cannot go straight to where they belong: a unit here may be in use, or what came is to be
// taken apart first. Several may be on their way at a time. Memory is kept: nothing is allocated once as many have been
// on their way as ever will be. A payload of any size has a place: how large one may be says core::fault_of(). Driver's
// thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/check.hpp"
#include "base/fault_heap.hpp"
#include "model/message.hpp"

namespace quire::core {

class arrivals {
 public:
  /// For the payload of `m`, until with() has it.
  [[nodiscard]] std::byte* place(const model::message& m) {
    std::size_t free = 0;
    while (free < all_.size() && all_[free]->used) ++free;
    if (free == all_.size()) all_.push_back(base::make_fault<arrival>());
    if (all_[free]->payload.size() < m.payload_bytes) all_[free]->payload.resize(m.payload_bytes);
    all_[free]->used = true;
    all_[free]->m = m;
    on_their_way_ += m.payload_bytes;
    return all_[free]->payload.data();
  }
  /// Calls f(payload) for a message that place() was called for. A sender has no two of them that are the same.
  template <class F>
  void with(const model::message& m, F&& f) {
    std::size_t i = 0;
    while (i < all_.size() && !(all_[i]->used && all_[i]->m == m)) ++i;
    CHECK(i < all_.size());
    arrival& a = *all_[i];
    f(std::span<const std::byte>(a.payload).first(m.payload_bytes));
    a.used = false;
    on_their_way_ -= m.payload_bytes;
  }
  /// Bytes of payloads that have a place, and are not delivered yet.
  [[nodiscard]] std::size_t on_their_way() const noexcept { return on_their_way_; }

 private:
  struct arrival {
    bool used = false;
    model::message m{};
    base::fault_vector<std::byte> payload{};  ///< as large as any so far
  };
  base::fault_vector<base::fault_ptr<arrival>> all_{};
  std::size_t on_their_way_ = 0;
};

}  // namespace quire::core
