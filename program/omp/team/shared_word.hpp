// SPDX-License-Identifier: BSD-3-Clause
// A word of shared memory, with the names of std::atomic: operations that change it are done where it lies; it is read
// here.
#pragma once

#include <quire/quire.h>

#include <atomic>
#include <cstdint>

#include "program/process/fail.hpp"

namespace quire::program {

class shared_word {
 public:
  /// `failure`: what it means that an operation fails, which ends the node.
  shared_word(std::uint64_t* at, const char* failure) noexcept : at_(at), failure_(failure) {}

  [[nodiscard]] std::uint64_t load(std::memory_order = std::memory_order_acquire) const noexcept {
    return __atomic_load_n(at_, __ATOMIC_ACQUIRE);
  }
  /// The page comes here.
  void store(std::uint64_t value, std::memory_order = std::memory_order_release) noexcept {
    __atomic_store_n(at_, value, __ATOMIC_RELEASE);
  }
  [[nodiscard]] bool compare_exchange_strong(std::uint64_t& expected, std::uint64_t by) noexcept {
    int done = 0;
    if (const quire_status why = quire_compare_exchange(at_, &expected, by, &done); why != QUIRE_OK)
      fail(failure_, why);
    return done != 0;
  }

 private:
  std::uint64_t* at_;
  const char* failure_;
};

}  // namespace quire::program
