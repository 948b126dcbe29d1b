// SPDX-License-Identifier: BSD-3-Clause
// Mutexes that this node keeps for a moment although another one wants them (src/sync/lock_linger.cpp), and the timer
// that wakes the service thread if no thread drives when the moment is over. Driver's thread only.
#pragma once

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"

namespace quire::engine {

class lingers {
 public:
  /// False if the system gives no timer: then nothing may be kept.
  [[nodiscard]] bool open() noexcept {
    timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    kept_.reserve(64);
    return timer_ >= 0;
  }
  void close() noexcept {
    if (timer_ >= 0) ::close(timer_);
    timer_ = -1;
  }
  /// Becomes readable when the time of one is over; -1: there is none.
  [[nodiscard]] int descriptor() const noexcept { return timer_; }
  [[nodiscard]] bool empty() const noexcept { return kept_.empty(); }

  /// From now on; one that was taken meanwhile stays in the list, and does no harm.
  void add(std::uint64_t object, std::uint64_t for_ns) {
    const std::uint64_t until = base::now_ns() + for_ns;
    const auto same = std::find_if(kept_.begin(), kept_.end(), [&](const kept& k) { return k.object == object; });
    if (same != kept_.end()) {
      same->until_ns = until;
    } else {
      kept_.push_back({object, until});
    }
    wake_at(until);
  }
  /// One whose time is over, and is no longer kept here; 0 if there is none.
  [[nodiscard]] std::uint64_t take_over() noexcept {
    const std::uint64_t now = base::now_ns();
    const auto over = std::find_if(kept_.begin(), kept_.end(), [&](const kept& k) { return k.until_ns <= now; });
    if (over == kept_.end()) return 0;
    const std::uint64_t object = over->object;
    kept_.erase(over);
    return object;
  }
  /// The descriptor was found readable, by the service thread.
  void clear() noexcept {
    std::uint64_t times;
    (void)!::read(timer_, &times, sizeof times);
  }

 private:
  struct kept {
    std::uint64_t object, until_ns;
  };
  /// The latest: whoever drives meanwhile takes the others, and so does the service thread then.
  void wake_at(std::uint64_t ns) noexcept {
    itimerspec at{};
    at.it_value.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
    at.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
    (void)::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr);
  }
  std::vector<kept> kept_;
  int timer_ = -1;
};

}  // namespace quire::engine
