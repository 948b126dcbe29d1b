// Where payloads land that cannot go straight to where they belong: a unit here may be in use, or what came is to be taken apart
// first. Several may be on their way at a time. Memory is kept: nothing is allocated once as many have been on their way as ever
// will be. Driver's thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "model/message.hpp"

namespace quire::engine {

template <std::size_t Bytes>
class arrivals {
 public:
  /// For the payload of `m`, until with() has it; nullptr if it is too large.
  [[nodiscard]] std::byte* place(const model::message& m) {
    if (m.payload_bytes > Bytes) return nullptr;
    std::size_t free = 0;
    while (free < all_.size() && all_[free]->used) ++free;
    if (free == all_.size()) all_.push_back(std::make_unique<arrival>());
    if (all_[free]->payload.size() < m.payload_bytes) all_[free]->payload.resize(m.payload_bytes);
    all_[free]->used = true;
    all_[free]->m = m;
    return all_[free]->payload.data();
  }
  /// Calls f(payload) for a message that place() was called for. A sender has no two of them that are the same.
  template <class F>
  void with(const model::message& m, F&& f) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      arrival& a = *all_[i];
      if (!a.used || a.m != m) continue;
      f(std::span<const std::byte>(a.payload).first(m.payload_bytes));
      a.used = false;
      return;
    }
  }

 private:
  struct arrival {
    bool used = false;
    model::message m{};
    std::vector<std::byte> payload{};  ///< as large as any so far
  };
  std::vector<std::unique_ptr<arrival>> all_{};
};

}  // namespace quire::engine
