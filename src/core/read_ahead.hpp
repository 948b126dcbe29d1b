// SPDX-License-Identifier: BSD-3-Clause
// Adaptive read-ahead: tells a sweep from other faults and says which units to ask for before they are touched. Pure;
// one per thread, a few streams each, so that a loop over several arrays is seen too.
//
// A sweep starts with a window of a few units, which doubles. The first unit of each window (the marker) is not
// mapped when it arrives: touching it costs a local fault and starts the next window, so that one window is always on
// its way while the one before is used. Small windows are withheld whole: what of them is never touched is known, and
// is not read ahead again.
//
// A sweep over what lies here asks for nothing, as it may end where this node's part does: more of what lies next to it
// is mapped at each fault. Where it comes to what lies elsewhere, the first window is a small one again.
//
// A sweep that goes down is the same, with the numbers of units turned round (sweeps).
//
// A sweep that writes what it has read is asked for in writable copies once at least every second unit of a window has
// been written; the marker then shows whether the sweep still writes (double faults, KOAN).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/ids.hpp"

namespace quire::core {

/// Units [first, first + count) to ask for. Unit `first` is the marker; with `withhold_all` so are the rest.
struct read_ahead_plan {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool withhold_all = false;
  bool will_write = false;     ///< the sweep has written what it read before
  bool withhold_some = false;  ///< so is one unit of each neighbourhood, which speaks for the others
  bool fresh = false;          ///< the fault goes on with no sweep that is known
  bool down = false;           ///< the sweep goes down: the marker is the last unit
};

class read_ahead {
 public:
  static constexpr std::uint64_t first_window = 4;
  static constexpr std::uint64_t most_around = 64;                ///< units that are mapped around a fault
  static constexpr std::uint64_t max_window_bytes = 1024 * 1024;  ///< what is on its way at most, per stream
  static constexpr std::uint64_t trusted_window = 16;             ///< from here on, whole windows are mapped on arrival

  /// A thread faulted on `unit` of `region`, which has `units`; windows grow to `max_window` units (at least 1).
  /// `here`: it costs no message.
  read_ahead_plan on_fault(model::region_id region, std::uint64_t unit, std::uint64_t units, std::uint64_t max_window,
                           bool write = false, bool here = false) noexcept {
    if (write && wrote_behind(region, unit)) return {};
    stream& s = find(region, unit);
    const bool follows = s.live && s.region == region && unit >= s.last && unit <= s.end && unit - s.last <= s.reach;
    s.used = ++clock_;
    if (!follows) {
      s = {};
      s.live = true;
      s.region = region;
      s.last = unit;
      s.end = s.trigger = unit + 1;
      s.used = clock_;
      s.seen = 1;
      if (write) s.written = 1;
      return {.fresh = true};
    }
    if (write) ++s.written;
    if (unit == s.last) return {};  // the same unit again: lost meanwhile
    s.seen += unit - s.last;
    s.last = unit;
    ++s.hits;
    if (s.hits < 2 || unit < s.trigger) {
      s.end = std::max(s.end, unit + 1);
      return {};
    }
    if (here && !s.asks) {
      s.near = std::min(std::clamp(s.near * 2, first_window, most_around), std::max<std::uint64_t>(max_window, 1));
      s.window = s.seen = s.written = 0;
      s.will_write = false;
      s.end = s.trigger = unit + 1;
      s.reach = 1;
      return {};
    }
    s.asks = true;
    s.near = 0;
    s.window = s.window == 0 ? first_window : std::min(s.window * 2, max_window);
    const std::uint64_t first = std::max(unit + 1, s.end);
    if (first >= units) return {};
    const std::uint64_t count = std::min(s.window, units - first);
    s.trigger = first;
    s.end = first + count;
    s.reach = s.end - s.last;
    // The unit of this very fault has not had the time to be written after it was read.
    s.will_write = s.will_write ? s.written != 0 : 2 * s.written >= s.seen - 1 && s.written != 0;
    s.written = s.seen = 0;
    return {first, count, s.window < trusted_window, s.will_write};
  }
  /// Units up to `unit` (exclusive) were mapped around a fault: the sweep's next fault is expected there.
  void on_mapped_up_to(model::region_id region, std::uint64_t faulted, std::uint64_t unit) noexcept {
    for (stream& s : streams_) {
      if (!s.live || s.region != region || s.last != faulted) continue;
      s.last = unit - 1;
      s.end = std::max(s.end, unit);
      s.trigger = std::max(s.trigger, unit);
      s.reach = std::max<std::uint64_t>(s.end - s.last, 1);
    }
  }
  /// Of a plan nothing had to be asked for: it lies here, or is on its way already.
  void on_nothing_asked(model::region_id region, const read_ahead_plan& plan) noexcept {
    for (stream& s : streams_) {
      if (s.live && s.region == region && s.end == plan.first + plan.count) s.asks = false;
    }
  }
  /// Units to map around a local fault of the stream that `unit` belongs to.
  [[nodiscard]] std::uint64_t around(model::region_id region, std::uint64_t unit) const noexcept {
    for (const stream& s : streams_) {
      if (s.live && s.region == region && s.last == unit)
        return s.hits < 2 ? 0 : std::min(std::max(s.window, s.near), most_around);
    }
    return 0;
  }

 private:
  struct stream {
    bool live = false;
    model::region_id region{};
    std::uint64_t last = 0;     ///< unit of the latest fault
    std::uint64_t end = 0;      ///< first unit that has not been asked for
    std::uint64_t trigger = 0;  ///< a fault from here on asks for the next window
    std::uint64_t reach = 1;    ///< how far ahead of `last` a fault still belongs to the stream
    std::uint64_t window = 0;
    std::uint64_t near = 0;  ///< of a sweep that asks for nothing: units to map around its faults
    bool asks = false;       ///< some of the units of its last plan were elsewhere
    std::uint32_t hits = 0;
    std::uint64_t used = 0;
    std::uint64_t seen = 0;     ///< units that the sweep has passed since the last plan
    std::uint64_t written = 0;  ///< of them, where a write fault was seen
    bool will_write = false;    ///< the last plan was for writing
  };
  /// A sweep writes a unit that it has read, where it is or a little behind: units are mapped around its faults.
  bool wrote_behind(model::region_id region, std::uint64_t unit) noexcept {
    for (stream& s : streams_) {
      if (!s.live || s.region != region || unit > s.last || s.last - unit > most_around) continue;
      ++s.written;
      s.used = ++clock_;
      return true;
    }
    return false;
  }
  stream& find(model::region_id region, std::uint64_t unit) noexcept {
    stream* oldest = &streams_[0];
    for (stream& s : streams_) {
      if (s.live && s.region == region && unit >= s.last && unit <= s.end && unit - s.last <= s.reach) return s;
      if (s.used < oldest->used) oldest = &s;
    }
    return *oldest;
  }
  std::array<stream, 4> streams_{};
  std::uint64_t clock_ = 0;
};

/// Of a thread: those that go up, and those that go down, as memcpy(3) of glibc does in a large block. To these a unit
/// has its number counted from the region's end.
class sweeps : public read_ahead {
 public:
  read_ahead_plan on_any_fault(model::region_id region, std::uint64_t unit, std::uint64_t units,
                               std::uint64_t max_window, bool write, bool here) noexcept {
    const read_ahead_plan up = on_fault(region, unit, units, max_window, write, here);
    if (!up.fresh) return up;
    const read_ahead_plan down = down_.on_fault(region, units - 1 - unit, units, max_window, write, here);
    return down.fresh ? up : turned(down, units);
  }
  void on_nothing_asked_of(model::region_id region, const read_ahead_plan& plan, std::uint64_t units) noexcept {
    plan.down ? down_.on_nothing_asked(region, turned(plan, units)) : on_nothing_asked(region, plan);
  }
  /// Units to map before `unit` at a local fault, and how far down they were: as around() and on_mapped_up_to().
  [[nodiscard]] std::uint64_t before(model::region_id region, std::uint64_t unit, std::uint64_t units) const noexcept {
    return down_.around(region, units - 1 - unit);
  }
  void on_mapped_down_to(model::region_id region, std::uint64_t faulted, std::uint64_t unit,
                         std::uint64_t units) noexcept {
    down_.on_mapped_up_to(region, units - 1 - faulted, units - unit);
  }

 private:
  [[nodiscard]] static read_ahead_plan turned(read_ahead_plan plan, std::uint64_t units) noexcept {
    if (plan.count != 0) plan.first = units - plan.first - plan.count;
    plan.down = !plan.down;
    return plan;
  }
  read_ahead down_{};
};

}  // namespace quire::core
