// SPDX-License-Identifier: BSD-3-Clause
// Units whose content this node has, and has in a store only. What is asked of such a unit waits in a queue of its
// frame, and whatever comes later behind it; all of it goes on in order when the content is there. Machines know
// nothing of it: to them the unit's messages come a little later. Other frames go on meanwhile. A frame of several
// units is away as a whole: if one of them has content, what is asked of any waits. Driver's thread only;
// absent_units.cpp.
//
// So is a step that needs content: who begins one asks must_wait() first. What cannot be put off calls settle(), which
// waits for the store and has what waits done first; and use_content() waits by itself for what is needed in the middle
// of a step (docs/limits.md has the list).
#pragma once

#include <cstdint>

#include "core/parked_units.hpp"
#include "core/region_slot.hpp"
#include "model/message.hpp"

namespace quire::core {

class core;
class frames;
struct frame_io;

class absent_units {
 public:
  absent_units(core& node, frames& memory) : core_(node), frames_(memory) {}

  /// What is about to be done with a unit has to be parked: its content is on its way from now on, or something waits
  /// already. `ahead`: units from this one on that will be of use.
  [[nodiscard]] bool must_wait(region_slot& r, std::uint64_t unit, std::uint64_t ahead) noexcept {
    return r.tracks_frames() && waits(r, unit, ahead);
  }
  void park(region_slot& r, std::uint64_t unit, op& o) noexcept {
    parked_.push({.region = &r, .frame = r.layout.frame_of(unit), .operation = &o});
  }
  /// A message of one unit.
  void park(region_slot& r, const model::message& m) noexcept {
    parked_.push({.region = &r, .frame = r.layout.frame_of(m.unit), .m = m});
  }
  /// A fault of a thread that the kernel holds.
  void park(region_slot& r, std::uint64_t unit, std::uint64_t address, bool write) noexcept {
    parked_.push({.region = &r, .frame = r.layout.frame_of(unit), .address = address, .write = write});
  }
  /// `o` waits no longer, if it did.
  void unpark(const region_slot& r, std::uint64_t unit, const op& o) noexcept {
    parked_.remove(r, r.layout.frame_of(unit), o);
  }

  /// Of these units, what is in the store only is on its way from now on.
  void prefetch(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept;
  /// What is done with the unit now would have to wait.
  [[nodiscard]] bool is_absent(const region_slot& r, std::uint64_t unit) const noexcept {
    return r.tracks_frames() && would_wait(r, r.layout.frame_of(unit));
  }
  /// Something waits for its frame.
  [[nodiscard]] bool holds(const region_slot& r, std::uint64_t unit) const noexcept {
    return holds_frame(r, r.layout.frame_of(unit));
  }
  [[nodiscard]] bool holds_frame(const region_slot& r, std::uint64_t frame) const noexcept {
    return parked_.has(r, frame);
  }
  /// Between steps: all that waits for these units has been done when this returns.
  void settle(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
    if (!parked_.empty()) settle_frames(r, r.layout.frames_of(first, count));
  }

  /// The region goes: all of its content that is on its way has come, and what waited for it is done, when this
  /// returns.
  void finish(region_slot& r) noexcept {
    if (r.tracks_frames()) finish_all(r);
  }

  /// What stores have done since the last round. True if there was anything.
  bool look() noexcept;
  /// Nothing of the region waits, and none of its content is on its way.
  [[nodiscard]] bool is_quiet(const region_slot& r) const noexcept;
  /// The same of all.
  [[nodiscard]] bool is_quiet() const noexcept;

  /// Survivors give up what is under way: f(region, message) for each message that waits.
  template <class F>
  void cut(F&& f) noexcept {
    parked_.take_messages([&](const parked_unit& p) { f(*p.region, p.m); });
  }
  [[nodiscard]] parked_units& parked() noexcept { return parked_; }

 private:
  [[nodiscard]] bool would_wait(const region_slot& r, std::uint64_t frame) const noexcept;
  [[nodiscard]] bool waits(region_slot& r, std::uint64_t unit, std::uint64_t ahead) noexcept;
  [[nodiscard]] std::uint64_t run_from(const region_slot& r, std::uint64_t frame, std::uint64_t most) const noexcept;
  void settle_frames(region_slot& r, const frame_range& all) noexcept;
  void finish_all(region_slot& r) noexcept;
  void go_on(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept;
  void go_on_after(frame_io& done) noexcept;
  void go_on_without(const frame_io& done) noexcept;
  void give_up(region_slot& r, std::uint64_t frame, int error) noexcept;

  core& core_;
  frames& frames_;
  parked_units parked_{};
  const region_slot* resuming_ = nullptr;  ///< what goes on is about `resuming_frame_`: its content is here
  std::uint64_t resuming_frame_ = 0;
};

}  // namespace quire::core
