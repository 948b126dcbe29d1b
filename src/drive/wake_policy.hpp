// SPDX-License-Identifier: BSD-3-Clause
// When a thread that waits polls, gives way and sleeps, and when the transport is armed: pure, with the clock as an
// input. threads.cpp does what is decided here; `quire info` prints the constants. Whether others want the cores is a
// question of its own (driver.hpp, contention).
#pragma once

#include <algorithm>
#include <cstdint>

namespace quire::drive {

/// All times are nanoseconds. A node's own; the same on all threads.
struct pace {
  int cores = 0;                      ///< of the host's, so many come on each node
  std::uint64_t spin_ns = 0;          ///< how long a waiting thread polls before it sleeps; 0 where cores are short
  std::uint64_t service_spin_ns = 0;  ///< the same for the service thread after activity, to begin with
  std::uint64_t longest_spin = 8;     ///< so many times longer it gets where it pays
  /// A thread that polls looks at the clock once in so many rounds,
  unsigned rounds_between_looks = 16;
  /// and gives way when nothing has come for so long: who is waited for may have been woken on this very core, and
  /// would wait for the end of this thread's slice.
  std::uint64_t patience_ns = 3'000;
  /// So long a thread sleeps on the transport itself; then the service thread is there for what comes.
  std::uint64_t sit_ns = 20'000'000;
  std::uint64_t longest_drive_ns = 5'000'000;  ///< then a thread may have a time limit to look at
  /// A thread that has what it waited for still takes what has arrived, for so long at most.
  std::uint64_t linger_ns = 100'000;
  /// and for so long waits for what it uses under the lock that it has got.
  std::uint64_t await_ns = 20'000;
  /// A thread that waits in a loop of the program looks so long what has come, each time that it says so.
  std::uint64_t spin_look_ns = 2'000;
  /// After a message behind which another of the same node follows at once (the arrival at a barrier behind the diffs)
  /// the service thread looks on for so long even if all threads of the node compute: to wake again takes two to three
  /// times as long. Not after others: it may have been woken on the core of the thread that waits for its reply.
  std::uint64_t follow_up_ns = 10'000;
  /// A thread whose calls are all done at once looks so often what has come for the node.
  std::uint64_t look_every_ns = 50'000;
  /// Threads that drive again so soon after having left, so many times in a row, do not arm the transport in between:
  /// the service thread looks once a tick.
  std::uint64_t soon_ns = 100'000;
  unsigned burst = 8;
  std::uint64_t tick_ns = 200'000;  ///< a look takes a computing thread 10 to 30 us of its core
  unsigned longest_tick = 1;  ///< doublings: while threads keep driving, the service thread looks less and less often

  /// More nodes than cores: who is waited for wants this core, most likely. A thread looks as often as it takes to see
  /// what is there, and gives way.
  void share_cores() noexcept {
    patience_ns = 0;
    rounds_between_looks = 2;
  }
};

/// What a thread that polls does next.
enum class next_step : std::uint8_t { poll, give_way, sleep };

/// One wait of an application thread. It begins with the first look: a short one needs no clock.
class polling {
 public:
  explicit polling(const pace& p) noexcept : pace_(p) {}
  /// `moved`: something has come since the last look; it may as well be this thread that takes what follows.
  [[nodiscard]] next_step look(std::uint64_t now, bool moved) noexcept {
    if (start_ == 0) start_ = now;
    if (moved || quiet_since_ == 0) quiet_since_ = now;
    if (now - quiet_since_ > pace_.spin_ns || now - start_ > pace_.longest_drive_ns) return next_step::sleep;
    return now - quiet_since_ > pace_.patience_ns ? next_step::give_way : next_step::poll;
  }

 private:
  const pace& pace_;
  std::uint64_t start_ = 0, quiet_since_ = 0;
};

/// How long the service thread looks on after it has served something. The while grows as long as it is worth it: with
/// requests in quick succession a sleep between them costs more than the polling, and a single one should not cost the
/// application its core.
class service_spin {
 public:
  explicit service_spin(const pace& p) noexcept : pace_(p), spin_ns_(p.service_spin_ns) {}
  void begin() noexcept {
    quiet_since_ = follow_up_end_ = 0;
    again_ = false;
  }
  void served(std::uint64_t now, bool more_follows) noexcept {
    if (quiet_since_ != 0) again_ = true;
    quiet_since_ = 0;
    follow_up_end_ = more_follows ? now + pace_.follow_up_ns : 0;
  }
  [[nodiscard]] bool may_follow_up(std::uint64_t now) const noexcept { return now < follow_up_end_; }
  [[nodiscard]] next_step look(std::uint64_t now) noexcept {
    if (quiet_since_ == 0) quiet_since_ = now;
    if (now - quiet_since_ > spin_ns_) return next_step::sleep;
    return now - quiet_since_ > pace_.patience_ns ? next_step::give_way : next_step::poll;
  }
  /// It has looked on to the end.
  void end() noexcept {
    const std::uint64_t shortest = pace_.service_spin_ns;
    spin_ns_ = again_ ? std::min(spin_ns_ * 2, shortest * pace_.longest_spin) : std::max(spin_ns_ / 2, shortest);
  }
  [[nodiscard]] std::uint64_t ns() const noexcept { return spin_ns_; }

 private:
  const pace& pace_;
  std::uint64_t spin_ns_, quiet_since_ = 0, follow_up_end_ = 0;
  bool again_ = false;  ///< something came while it looked on
};

/// Application threads that drive again and again, as in a sweep of faults. The driver's.
class bursts {
 public:
  explicit bursts(const pace& p) noexcept : pace_(p) {}
  /// A thread that has polled gives up driving.
  void left(std::uint64_t now) noexcept {
    soon_again_ = now - left_ns_ < pace_.soon_ns ? soon_again_ + 1 : 0;
    left_ns_ = now;
  }
  [[nodiscard]] bool lasts() const noexcept { return soon_again_ >= pace_.burst; }
  [[nodiscard]] bool lasts(std::uint64_t now) const noexcept { return lasts() && now - left_ns_ < pace_.soon_ns; }
  /// A thread had not to wait: whether it is to look what has come for the node.
  [[nodiscard]] bool is_look_due(std::uint64_t now) noexcept {
    if (now - looked_ns_ < pace_.look_every_ns) return false;
    looked_ns_ = now;
    return true;
  }

 private:
  const pace& pace_;
  std::uint64_t left_ns_ = 0, looked_ns_ = 0;
  unsigned soon_again_ = 0;
};

/// Ticks of the service thread, in a row.
class ticks {
 public:
  explicit ticks(const pace& p) noexcept : pace_(p) {}
  void end() noexcept { count_ = 0; }
  [[nodiscard]] std::uint64_t next_ns() noexcept { return pace_.tick_ns << std::min(count_++, pace_.longest_tick); }

 private:
  const pace& pace_;
  unsigned count_ = 0;
};

}  // namespace quire::drive
