// SPDX-License-Identifier: BSD-3-Clause
// Shared memory that no thread of this node may access (quire_guard): below a stack, say. Entries are added by any
// thread, and stay.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace quire::core {

class guards {
 public:
  static constexpr std::size_t most = 4096;

  guards() = default;
  guards(const guards&) = delete;
  guards& operator=(const guards&) = delete;
  ~guards() {
    for (const guard* g = first_.load(); g != nullptr;) delete std::exchange(g, g->next);
  }
  /// `why` is copied. False: there are too many.
  [[nodiscard]] bool add(std::uint64_t first, std::uint64_t bytes, const char* why) {
    if (count_.fetch_add(1, std::memory_order_relaxed) >= most) return false;
    auto* const g = new guard{first, bytes, first_.load(std::memory_order_relaxed), why};
    while (!first_.compare_exchange_weak(g->next, g, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return true;
  }
  /// What an access to the address means; null: nothing. Fault context.
  [[nodiscard]] const char* find(std::uint64_t address) const noexcept {
    for (const guard* g = first_.load(std::memory_order_acquire); g != nullptr; g = g->next) {
      if (address - g->first < g->bytes) return g->why.c_str();
    }
    return nullptr;
  }

 private:
  struct guard {
    std::uint64_t first, bytes;
    guard* next;
    std::string why;
  };
  std::atomic<std::size_t> count_{0};
  std::atomic<guard*> first_{nullptr};
};

}  // namespace quire::core
