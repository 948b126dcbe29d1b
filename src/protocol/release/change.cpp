// SPDX-License-Identifier: BSD-3-Clause
// Units that come from, or go to, another protocol (KOAN: the consistency of a region changes while the program runs).
//
// From the sequential protocol: the owner of a unit becomes its home. Who may write it knows that it is the owner; who may
// read it does not, and hears from the manager, which also passes on who has a copy. All copies stay. Back again: the home
// becomes the owner, and its copy the only one.
#include "protocol/release/machine.hpp"

namespace quire::release {

using model::handover;
using model::message_kind;
namespace message_flag = model::message_flag;

handover machine::give(std::uint64_t unit, actions& out) {
  unit_state& s = units_[unit];
  CHECK(s.pending() == access::none && s.asked == 0 && s.twin == 0 && s.pinned == 0 && s.pin_asked == 0 && s.granted == 0);
  handover h;
  h.written = s.written != 0;
  if (is_home(unit)) {
    h.right = access::write;
    h.mapped = s.mapped();
  } else {
    protect(unit, s, access::none, out);
  }
  s = {};
  return h;
}

void machine::take(std::uint64_t unit, const handover& h, actions& out) {
  const bool manages = shape_.managers.of(unit) == shape_.self;
  CHECK(h.manages == manages && h.mapped <= h.right);
  unit_state& s = touch(unit);
  CHECK(s.mapped() == access::none && s.pending() == access::none);
  s.assigned = 1;
  s.set_mapped(h.mapped);
  if (h.written) s.written = 1;
  if (h.right == access::write || (manages && h.owner == shape_.self)) {
    s.is_home = 1;
    s.home = shape_.self;
    s.moves = manages ? 0 : 1;
    s.shared = h.right == access::write ? 0 : 1;
    s.current = h.right == access::write ? model::copyset{} : h.copies;
    if (checked_) protect(unit, s, access::read, out);
    return;
  }
  if (!manages) {  // the manager's message may have been here first
    if (s.is_home == 0 && h.right == access::read) s.valid = 1;
    return;
  }
  s.is_home = 0;
  s.was_home = 1;  // all others believe it is
  s.valid = h.right == access::none ? 0 : 1;
  s.home = h.owner;
  s.moves = 1;
  message m;
  m.kind = message_kind::home_move;
  m.flags = message_flag::settled | message_flag::zero;  // it knows itself what it has
  m.unit = unit;
  m.requester = h.owner;
  m.a = s.moves;
  m.b = h.copies.bits() & ~model::copyset::of(shape_.nodes, shape_.self).bits();
  send(h.owner, m, false, out);
}

/// Diffs and bases have gone before; what is left of twins nobody needs.
void machine::forget() noexcept {
  for (std::uint64_t unit = used_.first(); !shape_.scans && unit < used_.end(); ++unit) {
    if (units_[unit].twin != 0 && units_[unit].declared == 0) open_.twins -= shape_.twin_pages;
  }
  used_.clear();
  own_.reset();
  units_ = nullptr;
}

}  // namespace quire::release
