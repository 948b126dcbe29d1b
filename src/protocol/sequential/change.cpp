// SPDX-License-Identifier: BSD-3-Clause
// Units that come from, or go to, another protocol (KOAN: the consistency of a region changes while the program runs).
#include "protocol/sequential/change.hpp"

namespace quire::sequential {

using model::handover;
using model::message_kind;

void handovers::make_copies(std::uint64_t unit) {
  unit_state& s = table_.units[unit];
  if (s.touched == 0) return;
  CHECK(s.mapped() == access::none);
  const bool beside_others = s.owner == 0 || s.read_first != 0;
  if (beside_others && s.right() == access::write) s.set_right(access::read);
  s.read_first = 0;
}

handover handovers::give(std::uint64_t unit, actions&) {
  unit_state& s = table_.units[unit];
  handover h;
  if (table_.shape.one_memory) make_copies(unit);
  h.right = table_.right_of(unit);
  h.mapped = s.mapped();
  h.written = s.written != 0;
  h.keeps = s.touched != 0 ? s.owner != 0 : table_.manager_of(unit) == table_.shape.self;
  CHECK(s.pending() == access::none && s.held == 0 && s.pinned == 0);
  s = {};
  if (table_.manager_of(unit) != table_.shape.self) return h;
  directory_entry& e = table_.touch_entry(unit);
  CHECK(e.requests.empty() && e.acks_left == 0 && e.wanted == 0 && e.flushing == 0);
  h.manages = true;
  h.owner = e.owner;
  h.copies = e.copies;
  e = {};
  return h;
}

void handovers::take(std::uint64_t unit, const handover& h, actions& out) {
  CHECK(h.mapped <= h.right && (h.by_directory || h.right != access::read));
  table_.used.add(unit);
  unit_state& s = table_.units[unit];
  s = {};
  s.touched = 1;
  s.set_right(h.right);
  s.owner = h.by_directory ? (h.keeps ? 1 : 0) : h.right == access::write ? 1 : 0;
  s.set_mapped(h.mapped);
  s.written = h.written ? 1 : 0;
  if (h.right == access::write && h.written) marks_.mark_unsaved(unit);
  if (h.by_directory) {
    if (!h.manages) return;
    directory_entry& e = table_.touch_entry(unit);
    e.owner = h.owner;
    e.copies = h.copies;
    return;
  }
  if (h.right == access::none || table_.manager_of(unit) == table_.shape.self) return;
  message m;
  m.kind = message_kind::owner_here;
  m.unit = unit;
  m.requester = table_.shape.self;
  table_.send(table_.manager_of(unit), m, false, out);
}

/// May come before this node itself has changed over.
void handovers::on_owner_here(const message& m) {
  directory_entry& e = table_.touch_entry(m.unit);
  CHECK(e.requests.empty());
  e.owner = m.requester;
  e.copies = model::copyset::of(table_.shape.nodes, m.requester);
}

}  // namespace quire::sequential
