// SPDX-License-Identifier: BSD-3-Clause
// Calls that wait for a message, by token. A token names a slot and its generation, so that a late or forged reply
// finds nothing. Driver's thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "base/fault_heap.hpp"
#include "core/op.hpp"

namespace quire::core {

class call_table {
 public:
  [[nodiscard]] std::uint64_t add(op& o) {
    if (free_.empty()) {
      slots_.push_back({});
      free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    slots_[index].waiting = &o;
    return (std::uint64_t{++slots_[index].generation} << 32) | index;
  }
  /// The waiting call; null if there is none of that token.
  [[nodiscard]] op* find(std::uint64_t token) const noexcept {
    const auto index = static_cast<std::uint32_t>(token);
    if (index >= slots_.size() || slots_[index].generation != token >> 32) return nullptr;
    return slots_[index].waiting;
  }
  /// Takes the call out of the table.
  [[nodiscard]] op* take(std::uint64_t token) {
    op* o = find(token);
    if (o == nullptr) return nullptr;
    slots_[static_cast<std::uint32_t>(token)].waiting = nullptr;
    free_.push_back(static_cast<std::uint32_t>(token));
    return o;
  }
  /// Calls f(token, op) for all that wait; f may take the one that it is given.
  template <class F>
  void for_each(F&& f) {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].waiting != nullptr) f((std::uint64_t{slots_[i].generation} << 32) | i, *slots_[i].waiting);
    }
  }

 private:
  struct slot {
    op* waiting = nullptr;
    std::uint32_t generation = 0;
  };
  base::fault_vector<slot> slots_;
  base::fault_vector<std::uint32_t> free_;
};

}  // namespace quire::core
