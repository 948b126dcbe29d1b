// SPDX-License-Identifier: BSD-3-Clause
// When everything is marked. Nodes mark, send references, and mark what is sent to them; all is marked when nobody has
// anything to do and no message is under way. Node 0 sends waves: each node answers a wave, once, at a moment when it
// has nothing to do, with how many messages it has sent and received so far. If everything that had been sent at one
// wave was received at the one before, there is no more (Mattern, Algorithms for Distributed Termination Detection,
// 1987: four counters). Unlike the collectives of core/change.cpp a wave keeps nobody from marking, so a chain of
// objects that goes to and fro costs a message a step.
//
// Pure. Messages about waves are not counted.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace quire::gc {

/// On every node.
class wave_member {
 public:
  void on_sent() noexcept { ++sent_; }
  void on_received() noexcept { ++received_; }
  void on_wave(std::uint64_t wave) noexcept { asked_ = wave; }
  struct answer {
    std::uint64_t wave = 0, sent = 0, received = 0;
  };
  /// This node has nothing to do: what to tell node 0, if it has asked.
  [[nodiscard]] std::optional<answer> on_idle() noexcept {
    if (asked_ == answered_) return std::nullopt;
    answered_ = asked_;
    return answer{asked_, sent_, received_};
  }
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }

 private:
  std::uint64_t asked_ = 1, answered_ = 0, sent_ = 0, received_ = 0;
};

/// On node 0.
class wave_leader {
 public:
  explicit wave_leader(unsigned nodes) : missing_(nodes), nodes_(nodes) {}
  enum class next : std::uint8_t { wait, wave, done };
  /// A node has answered the wave that is under way. `wave`: send wave() to all.
  [[nodiscard]] next on_answer(const wave_member::answer& a) noexcept {
    if (a.wave != wave_ || missing_ == 0) return next::wait;
    sent_ += a.sent;
    received_ += a.received;
    if (--missing_ != 0) return next::wait;
    const bool quiet = wave_ > 1 && sent_ == received_before_;
    if (quiet) return next::done;
    received_before_ = received_;
    sent_ = received_ = 0;
    missing_ = nodes_;
    ++wave_;
    return next::wave;
  }
  [[nodiscard]] std::uint64_t wave() const noexcept { return wave_; }

 private:
  std::uint64_t wave_ = 1, sent_ = 0, received_ = 0, received_before_ = 0;
  unsigned missing_, nodes_;
};

}  // namespace quire::gc
