// SPDX-License-Identifier: BSD-3-Clause
// How a thread waits for others of its node in private memory: it looks for as long as cores are there for all
// (quire_may_look()), as stock runtimes do, then sleeps. A thread that sleeps costs those it waits for a call of the
// system and itself tens of microseconds, and regions may follow each other as fast.
#pragma once

#include <quire/system.h>

#include <atomic>
#include <cstdint>

#include "program/job/job.hpp"

namespace quire::program {

class patience {
 public:
  /// `threads`: of the node that may want a core, the caller included; 0: there is none.
  explicit patience(int threads) noexcept : threads_(job().waits_passively ? 0 : threads) {}
  /// Whether the caller may look for some more microseconds.
  [[nodiscard]] bool lasts() noexcept { return threads_ != 0 && quire_may_look(threads_, &so_far_) != 0; }
  void begin_again() noexcept { so_far_ = {}; }

 private:
  int threads_;
  quire_looking so_far_{};
};

inline constexpr int looks_at_once = 64;  ///< some microseconds

/// Returns when the word is no longer `old`.
inline void wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t old, int threads) noexcept {
  const auto is_old = [&] { return word.load(std::memory_order_acquire) == old; };
  for (patience looking(threads); looking.lasts();) {
    for (int i = 0; i < looks_at_once; ++i) {
      if (!is_old()) return;
      __builtin_ia32_pause();
    }
  }
  while (is_old()) word.wait(old, std::memory_order_acquire);
}

}  // namespace quire::program
