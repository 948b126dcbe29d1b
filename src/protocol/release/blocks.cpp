// SPDX-License-Identifier: BSD-3-Clause
// Parallel blocks (KOAN, multiple-writers consistency) on the units of a node. A block that is not checked is release
// consistency with homes that stay, and with declared ranges. In one that is checked the home keeps each unit as it was
// before, and copies that others' writes make old stay until the end: notices only say which those are.
//
// The region was sequential before (then change.cpp gives and takes the units), or stays under this protocol.
#include "protocol/release/blocks.hpp"

namespace quire::release {

void blocks::on_block_ahead(std::uint64_t unit, actions& out) {
  unit_state& s = table_.units[unit];
  if (!table_.shape.scans || s.mapped() == access::none) return;
  if (s.is_home != 0) return rights_.close_home(unit, s, out);
  table_.protect(unit, s, access::none, out);
  if (s.twin != 0) rights_.send_diff(unit, s, false, out);
}

void blocks::on_block_begin(std::uint64_t unit, actions& out) {
  unit_state& s = table_.units[unit];
  if (table_.checked && s.is_home != 0) rights_.close_home(unit, s, out);
}

void blocks::on_block_end(std::uint64_t unit, actions& out) {
  if (has_base(unit)) rights_.close_home(unit, table_.units[unit], out);
}

/// Where written units are found by scans a copy may have been mapped, and written, before anybody could say what is
/// not.
void blocks::on_declared(std::uint64_t unit) {
  unit_state& s = table_.touch(unit);
  if (s.is_home == 0 && s.twin == 0 && !table_.shape.scans) s.declared = 1;
}

void blocks::on_base_dropped(std::uint64_t unit) {
  CHECK(has_base(unit));
  table_.units[unit].twin = 0;
  --table_.open.bases;
}

void blocks::on_block_over(std::uint64_t unit, actions& out) {
  unit_state& s = table_.units[unit];
  CHECK(!table_.checked && (s.declared == 0 || s.twin == 0));
  s.declared = 0;
  const bool old = s.news != 0;
  s.news = 0;
  if (s.is_home != 0) {
    s.current.clear();  // copies may be as the unit was before
  } else if (old) {
    if (s.valid != 0) s.follows = 0;
    copies_.on_notice(unit, s.home, 0, table_.shape.self, out);
  }
}

}  // namespace quire::release
