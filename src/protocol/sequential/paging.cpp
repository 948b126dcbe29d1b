// SPDX-License-Identifier: BSD-3-Clause
// Page-out (KOAN): what a node that is short of memory may do with its units. A copy that is not the owner's is given
// up, and the manager hears of it, so that it does not count on the copy when this node asks again. The owner's content
// stays the owner's: it leaves memory below the protocol, or another node asks for it as if it wanted to write.
#include "protocol/sequential/paging.hpp"

#include "protocol/sequential/private_views.hpp"

namespace quire::sequential {

using model::action_kind;
using model::frame_use;
using model::message_kind;

frame_use page_out::use_of_frame(std::uint64_t unit) const noexcept {
  const unit_state& s = table_.units[unit];
  if (s.pending() != access::none || s.held != 0 || s.pinned != 0) return frame_use::busy;
  if (table_.shape.views != nullptr && s.mapped() != access::none && table_.shape.views->is_in_use())
    return frame_use::busy;
  const access right = table_.right_of(unit);
  if (right == access::none) return table_.is_inherited_in_store(unit) ? frame_use::needed : frame_use::none;
  // What a store keeps may go there: not while an order to this node itself may need it, which cannot be refused any
  // more if the store fails.
  const bool is_served =
      table_.shape.stored && table_.manager_of(unit) == table_.shape.self && !table_.entries[unit].requests.empty();
  if (is_served) return frame_use::busy;
  if (s.touched == 0 || s.owner != 0) return frame_use::needed;
  // Being the manager too, it may have been chosen to answer a request, by an order that is on its way.
  if (table_.manager_of(unit) == table_.shape.self && !table_.entries[unit].requests.empty()) return frame_use::busy;
  return frame_use::copy;
}

void page_out::on_unmap(std::uint64_t unit, actions& out) {
  unit_state& s = table_.touch(unit);
  if (s.mapped() == access::none) return;
  auto& a = out.add(action_kind::protect, unit);
  a.from = s.mapped();
  a.level = access::none;
  s.set_mapped(access::none);
}

void page_out::on_drop_copy(std::uint64_t unit, actions& out) {
  CHECK(use_of_frame(unit) == frame_use::copy);
  unit_state& s = table_.touch(unit);
  on_unmap(unit, out);
  s.set_right(access::none);
  s.withhold = s.read_ahead = s.read_first = 0;
  ++table_.count.copies_dropped;
  if (!table_.shape.nodes.exact()) return;  // others may share its bit, and nobody counts on a single copy
  message m;
  m.kind = message_kind::copy_dropped;
  m.unit = unit;
  m.requester = table_.shape.self;
  if (table_.manager_of(unit) == table_.shape.self) return on_copy_dropped(m);
  table_.send(table_.manager_of(unit), m, false, out);
}

/// At the manager. A later request of the same node comes behind this (README.md, I15), and so does its acknowledgement
/// of a push.
void page_out::on_copy_dropped(const message& m) {
  directory_entry& e = table_.touch_entry(m.unit);
  CHECK(m.requester != e.owner);
  e.copies.remove(table_.shape.nodes, m.requester);
}

bool page_out::on_please_take(std::uint64_t unit, actions& out) {
  unit_state& s = table_.touch(unit);
  if (s.right() == access::write || s.pending() != access::none || table_.shape.views != nullptr) return false;
  s.withhold = 1;
  node_.ask(unit, s, access::write, out);
  return true;
}

}  // namespace quire::sequential
