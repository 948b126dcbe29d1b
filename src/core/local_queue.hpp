// SPDX-License-Identifier: BSD-3-Clause
// Messages of a node to itself: they never meet the transport. First come first served, handled by the driver before it
// looks at the network. A ring that grows when many units are asked for at once.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/check.hpp"
#include "base/fault_heap.hpp"
#include "model/message.hpp"

namespace quire::core {

struct local_message {
  model::message m{};
  std::array<std::byte, 512> value{};
};

class local_queue {
 public:
  local_queue() : ring_(64) {}
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  void push(const model::message& m, std::span<const std::byte> value) {
    if (size_ == ring_.size()) grow();
    local_message& slot = ring_[(head_ + size_++) % ring_.size()];
    CHECK(value.size() <= slot.value.size());
    slot.m = m;
    for (std::size_t i = 0; i < value.size(); ++i) slot.value[i] = value[i];
  }
  [[nodiscard]] local_message& front() noexcept { return ring_[head_]; }
  void pop() noexcept {
    head_ = (head_ + 1) % ring_.size();
    --size_;
  }

 private:
  void grow() {
    base::fault_vector<local_message> larger(ring_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = ring_[(head_ + i) % ring_.size()];
    ring_ = std::move(larger);
    head_ = 0;
  }
  base::fault_vector<local_message> ring_;
  std::size_t head_ = 0, size_ = 0;
};

}  // namespace quire::core
