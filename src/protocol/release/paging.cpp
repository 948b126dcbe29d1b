// SPDX-License-Identifier: BSD-3-Clause
// Page-out (KOAN): a copy without a twin is given up, and nobody needs to know: no home counts on it where nodes page
// out. The home's content leaves memory below the protocol, or another node becomes the home: it is asked to, and
// answers by a request for a copy that says so. From its request on it waits for the content, and nobody there can use
// the unit; behind it come no diffs of its own.
#include "protocol/release/paging.hpp"

namespace quire::release {

using model::frame_use;

frame_use page_out::use_of_frame(std::uint64_t unit) const noexcept {
  const unit_state& s = table_.units[unit];
  if (s.pending() != access::none || s.asked != 0 || s.twin != 0 || s.pinned != 0 || s.pin_data != 0 || table_.checked)
    return frame_use::busy;
  if (table_.is_home(unit)) return frame_use::needed;
  return s.valid != 0 ? frame_use::copy : frame_use::none;
}

void page_out::on_unmap(std::uint64_t unit, actions& out) {
  table_.protect(unit, table_.touch(unit), access::none, out);
}

void page_out::on_drop_copy(std::uint64_t unit, actions& out) {
  CHECK(use_of_frame(unit) == frame_use::copy && table_.shape.pages_out);
  unit_state& s = table_.touch(unit);
  table_.protect(unit, s, access::none, out);
  s.valid = s.follows = s.withhold = s.read_ahead = 0;
  s.version = no_version;
  ++table_.count.copies_dropped;
}

bool page_out::on_please_take(std::uint64_t unit, actions& out) {
  unit_state& s = table_.touch(unit);
  if (s.is_home != 0 || table_.shape.scans || table_.homes_stay || table_.checked) return false;
  if (use_of_frame(unit) == frame_use::busy || s.pin_asked != 0) return false;
  homes_.ask_for_home(unit, s, out);
  return true;
}

}  // namespace quire::release
