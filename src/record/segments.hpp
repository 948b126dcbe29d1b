// SPDX-License-Identifier: BSD-3-Clause
// What one thread did when: segments of time, one after the other, each with the time that the thread waited in it, by
// kind; the rest of it the thread computed. The memory is fixed. Where it is full, neighbours merge and the resolution
// halves, so that a record covers any length of time and its sums stay exact. Pure: the clock is an input. One thread
// at a time; fault context too: no heap, no lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace quire::record {

/// What threads wait for.
enum class wait : std::uint8_t {
  read_fault,
  write_fault,
  lock,     ///< mutexes
  barrier,  ///< barriers of the job, of groups, and those that programs make
  other,    ///< read-write locks, conditions, events, semaphores, collectives
};
inline constexpr std::size_t waits = 5;
using wait_times = std::array<std::uint64_t, waits>;  ///< nanoseconds by kind

/// From the end of the one before it to its own. A segment with one wait ends with it.
struct segment {
  std::uint64_t end_ns = 0;
  wait_times waited_ns{};
  std::uint64_t phase = 0;  ///< the one it ends in, from 1 on; 0: none
};

class segments {
 public:
  segments() = default;
  /// In `memory`, which has room for four at least. The thread begins at `begin_ns`.
  segments(std::span<segment> memory, std::uint64_t begin_ns) noexcept : memory_(memory), begin_ns_(begin_ns) {}

  /// The thread has waited from `begin_ns` to `end_ns`. Waits within waits end before those around them: their times
  /// count for both, as in counters.
  void add(wait kind, std::uint64_t begin_ns, std::uint64_t end_ns, std::uint64_t phase) noexcept {
    segment one{end_ns, {}, phase};
    one.waited_ns[static_cast<std::size_t>(kind)] = end_ns - std::min(begin_ns, end_ns);
    add(one);
  }
  /// What another record of the thread has in one segment.
  void add(const segment& one) noexcept {
    if (!joins_last(count_, one)) {
      if (count_ == memory_.size()) halve();
      if (!joins_last(count_, one)) {
        memory_[count_] = one;
        memory_[count_].end_ns = std::max(one.end_ns, begin_of(count_));
        ++count_;
        return;
      }
    }
    merge(memory_[count_ - 1], one);
  }
  /// Up to now the thread was in `phase`, and waited for nothing since its last wait.
  void mark(std::uint64_t now_ns, std::uint64_t phase) noexcept { add({now_ns, {}, phase}); }

  [[nodiscard]] std::uint64_t begin_ns() const noexcept { return begin_ns_; }
  [[nodiscard]] std::span<const segment> all() const noexcept { return memory_.first(count_); }
  /// How many, for who finds the memory elsewhere: another process has it at other addresses.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// Segments shorter than this were merged with their neighbours.
  [[nodiscard]] std::uint64_t resolution_ns() const noexcept { return resolution_ns_; }

 private:
  [[nodiscard]] std::uint64_t begin_of(std::size_t at) const noexcept {
    return at == 0 ? begin_ns_ : memory_[at - 1].end_ns;
  }

  [[nodiscard]] bool joins_last(std::size_t count, const segment& one) const noexcept {
    return count != 0 && (one.end_ns <= memory_[count - 1].end_ns || one.end_ns - begin_of(count - 1) < resolution_ns_);
  }
  static void merge(segment& into, const segment& one) noexcept {
    into.end_ns = std::max(into.end_ns, one.end_ns);
    for (std::size_t i = 0; i < waits; ++i) into.waited_ns[i] += one.waited_ns[i];
    into.phase = one.phase;
  }
  /// Two neighbours that are left are longer than the resolution together: at most half of the memory is in use
  /// afterwards.
  void halve() noexcept {
    const std::uint64_t span = memory_[count_ - 1].end_ns - begin_ns_;
    resolution_ns_ = std::max(2 * resolution_ns_, 4 * span / memory_.size() + 1);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const segment one = memory_[i];
      if (joins_last(kept, one)) {
        merge(memory_[kept - 1], one);
      } else {
        memory_[kept++] = one;
      }
    }
    count_ = kept;
  }

  std::span<segment> memory_{};
  std::size_t count_ = 0;
  std::uint64_t begin_ns_ = 0, resolution_ns_ = 0;
};

}  // namespace quire::record
