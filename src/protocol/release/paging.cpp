// Page-out (KOAN): a copy without a twin is given up, and nobody needs to know: the home does not count on it, as homes do not
// move at barriers where nodes page out. The home's content leaves memory below the protocol.
#include "protocol/release/machine.hpp"

namespace quire::release {

using model::frame_use;

frame_use machine::use_of_frame(std::uint64_t unit) const noexcept {
  const unit_state& s = units_[unit];
  if (s.pending() != access::none || s.asked != 0 || s.twin != 0 || s.pinned != 0 || s.pin_data != 0 || checked_) return frame_use::busy;
  if (is_home(unit)) return frame_use::needed;
  return s.valid != 0 ? frame_use::copy : frame_use::none;
}

void machine::on_unmap(std::uint64_t unit, actions& out) { protect(unit, touch(unit), access::none, out); }

void machine::on_drop_copy(std::uint64_t unit, actions& out) {
  CHECK(use_of_frame(unit) == frame_use::copy && !shape_.migrates);
  unit_state& s = touch(unit);
  protect(unit, s, access::none, out);
  s.valid = s.follows = s.withhold = s.read_ahead = 0;
  s.version = no_version;
  ++count_.copies_dropped;
}

/// What a home has it keeps.
bool machine::on_please_take(std::uint64_t, actions&) { return false; }

}  // namespace quire::release
