// SPDX-License-Identifier: BSD-3-Clause
// Page-out (KOAN): a copy without a twin is given up, and nobody needs to know: no home counts on it where nodes page out. The home's
// content leaves memory below the protocol, or another node becomes the home: it is asked to, and answers by a request for a copy that
// says so. From its request on it waits for the content, and nobody there can use the unit; behind it come no diffs of its own.
#include <algorithm>

#include "protocol/release/machine.hpp"

namespace quire::release {

using model::frame_use;
namespace message_flag = model::message_flag;

frame_use machine::use_of_frame(std::uint64_t unit) const noexcept {
  const unit_state& s = units_[unit];
  if (s.pending() != access::none || s.asked != 0 || s.twin != 0 || s.pinned != 0 || s.pin_data != 0 || checked_) return frame_use::busy;
  if (is_home(unit)) return frame_use::needed;
  return s.valid != 0 ? frame_use::copy : frame_use::none;
}

void machine::on_unmap(std::uint64_t unit, actions& out) { protect(unit, touch(unit), access::none, out); }

void machine::on_drop_copy(std::uint64_t unit, actions& out) {
  CHECK(use_of_frame(unit) == frame_use::copy && shape_.pages_out);
  unit_state& s = touch(unit);
  protect(unit, s, access::none, out);
  s.valid = s.follows = s.withhold = s.read_ahead = 0;
  s.version = no_version;
  ++count_.copies_dropped;
}

bool machine::on_please_take(std::uint64_t unit, actions& out) {
  unit_state& s = touch(unit);
  if (s.is_home != 0 || shape_.scans || homes_stay_ || checked_) return false;
  if (use_of_frame(unit) == frame_use::busy || s.pin_asked != 0) return false;
  ask_for_home(unit, s, out);
  return true;
}

/// At the home: whether who asks becomes it. Else it gets a copy. Not while diffs of this node are on their way: the content may say, by an
/// atomic operation, that others may go on, and here such an answer would wait for them.
bool machine::may_give(const message& m, const unit_state& s) const noexcept {
  if ((m.flags & message_flag::take) == 0 || s.producing != 0 || knows_copies(s) || !may_leave(s)) return false;
  return !awaits_homes();
}

bool machine::awaits_homes() const noexcept {
  return std::ranges::any_of(open_.unacknowledged, [](std::uint32_t diffs) { return diffs != 0; });
}

/// Whether the home may move (I10), as far as the unit tells: nobody counts on its being here, no request of this node's from before it came is on
/// its way, and nothing that it has passed on. That no diff of this node is on its way is for the callers to see.
bool machine::may_leave(const unit_state& s) const noexcept {
  // What threads here wrote under a pin is told by this node's next grant, and by nobody else's.
  const bool pins = s.granted != 0 || s.pin_asked != 0 || s.pin_ended != 0;
  const bool stays = homes_stay_ || checked_ || pins || s.kept != 0;
  return !stays && s.asked == 0 && open_.passing == 0;
}

}  // namespace quire::release
