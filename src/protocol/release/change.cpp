// SPDX-License-Identifier: BSD-3-Clause
// Units that come from, or go to, another protocol (KOAN: the consistency of a region changes while the program runs).
//
// From the sequential protocol: the owner of a unit becomes its home. Who may write it knows that it is the owner; who
// may read it does not, and hears from the manager, which also passes on who has a copy. All copies stay. Back again:
// the home becomes the owner, and its copy the only one.
#include "protocol/release/change.hpp"

namespace quire::release {

using model::handover;
using model::message_kind;
namespace message_flag = model::message_flag;

handover handovers::give(std::uint64_t unit, actions& out) {
  unit_state& s = table_.units[unit];
  CHECK(s.pending() == access::none && s.asked == 0 && s.twin == 0 && s.pinned == 0 && s.pin_asked == 0 &&
        s.granted == 0);
  handover h;
  h.written = s.written != 0;  // where all have one memory: by anybody (I12)
  if (table_.is_home(unit)) {
    h.right = access::write;
    h.mapped = s.mapped();
  } else {
    table_.protect(unit, s, access::none, out);
  }
  s = {};
  return h;
}

void handovers::take(std::uint64_t unit, const handover& h, actions& out) {
  const bool manages = table_.shape.managers.of(unit) == table_.shape.self;
  CHECK(h.manages == manages && h.mapped <= h.right);
  unit_state& s = table_.touch(unit);
  CHECK(s.mapped() == access::none && s.pending() == access::none);
  s.assigned = 1;
  s.set_mapped(h.mapped);
  // In one memory whoever has the unit may write it, and nobody hears of it (I12).
  if (h.written || (table_.one_memory && (h.right != access::none || manages))) s.written = 1;
  if (h.right == access::write || (manages && h.owner == table_.shape.self)) {
    s.is_home = 1;
    s.home = table_.shape.self;
    s.moves = manages ? 0 : 1;
    s.shared = h.right == access::write ? 0 : 1;
    s.current = h.right == access::write ? model::copyset{} : h.copies;
    if (table_.checked || table_.shape.traces) table_.protect(unit, s, access::read, out);
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
  m.b = h.copies.bits() & ~model::copyset::of(table_.shape.nodes, table_.shape.self).bits();
  table_.send(h.owner, m, false, out);
}

}  // namespace quire::release
