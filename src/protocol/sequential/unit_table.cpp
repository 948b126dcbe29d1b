// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/sequential/unit_table.hpp"

namespace quire::sequential {

using model::action_kind;
using model::copyset;
using model::message_kind;

unit_state& unit_table::touch(std::uint64_t unit) noexcept {
  CHECK(unit < shape.units);
  unit_state& s = units[unit];
  if (s.touched == 0) {
    used.add(unit);
    s.touched = 1;
    s.written = shape.stored ? 1 : 0;
    // A unit starts at its home, which is its manager, writable and zero.
    s.owner = origin_of(unit) == shape.self ? 1 : 0;
    s.set_right(s.owner != 0 ? access::write : access::none);
  }
  return s;
}

directory_entry& unit_table::touch_entry(std::uint64_t unit) noexcept {
  CHECK(unit < shape.units && manager_of(unit) == shape.self);
  directory_entry& e = entries[unit];
  if (e.touched == 0) {
    used.add(unit);
    const node_id first = origin_of(unit);
    if (first != shape.self) {  // inherited from a dead node, and nobody alive has it
      if (!shape.refills && (!replicated() || shape.members->died_together(first))) {
        e.touched = directory_entry::lost;
        return e;
      }
      regain(unit);  // with replicas that means: nobody has ever written it; a store has it
    }
    e.touched = 1;
    e.owner = shape.self;
    e.copies = copyset::of(shape.nodes, shape.self);
  }
  return e;
}

access unit_table::right_of(std::uint64_t unit) const noexcept {
  const unit_state& s = units[unit];
  if (s.touched != 0) return s.right();
  return origin_of(unit) == shape.self ? access::write : access::none;
}

void unit_table::send(node_id to, const message& m, bool with_content, actions& out) const {
  auto& a = out.add(action_kind::send, m.unit);
  a.to = to;
  a.m = m;
  a.m.region = shape.region;
  a.m.from = shape.self;
  a.with_content = with_content;
}

/// The reply to `m`, for the same unit and requester.
message unit_table::reply_to(const message& m, message_kind kind) const {
  message r;
  r.kind = kind;
  r.unit = m.unit;
  r.requester = m.requester;
  r.token = m.token;
  return r;
}

/// This node's frame, or its store, is all that there is of the unit.
void unit_table::regain(std::uint64_t unit) {
  unit_state& s = touch(unit);
  s.lost = 0;
  s.owner = 1;
  s.set_right(access::write);
  if (replicated()) shape.replicas.units[unit].backup = 0;
}

}  // namespace quire::sequential
