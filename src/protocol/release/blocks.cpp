// SPDX-License-Identifier: BSD-3-Clause
// Parallel blocks (KOAN, multiple-writers consistency) on the units of a node. A block that is not checked is release
// consistency with homes that stay, and with declared ranges. In one that is checked the home keeps each unit as it was before, and
// copies that others' writes make old stay until the end: notices only say which those are.
//
// The region was sequential before (then change.cpp gives and takes the units), or stays under this protocol.
#include "protocol/release/machine.hpp"

namespace quire::release {

/// Before the first write at the home.
void machine::keep_base(std::uint64_t unit, unit_state& s, actions& out) {
  if (!checked_ || s.twin != 0) return;
  s.twin = 1;
  ++open_.bases;
  out.add(model::action_kind::make_twin, unit);
}

/// The next write here is to be noticed. Where writes do not fault all access goes, and with it what the kernel knew of them.
void machine::close_home(std::uint64_t unit, unit_state& s, actions& out) {
  if (shape_.scans && s.mapped() != access::none) write_here(unit, s);
  protect(unit, s, shape_.scans ? access::none : access::read, out);
}

void machine::on_block_ahead(std::uint64_t unit, actions& out) {
  unit_state& s = units_[unit];
  if (!shape_.scans || s.mapped() == access::none) return;
  if (s.is_home != 0) return close_home(unit, s, out);
  protect(unit, s, access::none, out);
  if (s.twin != 0) send_diff(unit, s, false, out);
}

void machine::on_block_begin(std::uint64_t unit, actions& out) {
  unit_state& s = units_[unit];
  if (checked_ && s.is_home != 0) close_home(unit, s, out);
}

void machine::on_block_end(std::uint64_t unit, actions& out) {
  if (has_base(unit)) close_home(unit, units_[unit], out);
}

/// Where written units are found by scans a copy may have been mapped, and written, before anybody could say what is not.
void machine::on_declared(std::uint64_t unit) {
  unit_state& s = touch(unit);
  if (s.is_home == 0 && s.twin == 0 && !shape_.scans) s.declared = 1;
}

void machine::on_base_dropped(std::uint64_t unit) {
  CHECK(has_base(unit));
  units_[unit].twin = 0;
  --open_.bases;
}

void machine::on_block_over(std::uint64_t unit, actions& out) {
  unit_state& s = units_[unit];
  CHECK(!checked_ && (s.declared == 0 || s.twin == 0));
  s.declared = 0;
  const bool old = s.news != 0;
  s.news = 0;
  if (s.is_home != 0) {
    s.current.clear();  // copies may be as the unit was before
  } else if (old) {
    s.follows = 0;
    on_notice(unit, s.home, 0, out);
  }
}

}  // namespace quire::release
