// SPDX-License-Identifier: BSD-3-Clause
// Push (Millipage, section 4.3) and page broadcasting (KOAN, BeginProduction and EndProduction): copies that nobody has asked
// for go to all nodes. They travel by a tree whose root is the owner, so that nobody sends more than `fan_out` times, and
// every node tells the manager when it has its own; until the last has, the unit does not change.
#include "protocol/sequential/machine.hpp"

namespace quire::sequential {

using model::action_kind;
using model::message_kind;
namespace message_flag = model::message_flag;

namespace {
constexpr unsigned fan_out = 4;
}

void machine::on_push(std::uint64_t unit, std::uint64_t token, actions& out) {
  end_hold(unit, touch(unit), out);
  message m;
  m.kind = message_kind::push_request;
  m.unit = unit;
  m.requester = shape_.self;
  m.token = token;
  send(manager_of(unit), m, false, out);
}

/// Copies for the nodes below this one in the tree of `owner`.
void machine::push_on(const message& m, node_id owner, actions& out) {
  const unsigned nodes = shape_.nodes.nodes;
  const unsigned rank = (shape_.self.value() + nodes - owner.value()) % nodes;
  message copy = reply_to(m, message_kind::push_copy);
  copy.a = owner.value();
  if (replicated()) copy.b = shape_.replicas.units[m.unit].stamp;
  const unit_state& s = units_[m.unit];
  if (s.written == 0) copy.flags |= message_flag::zero;
  if (shape_.members != nullptr && shape_.members->dead != 0) {  // a tree would have holes
    for (unsigned n = 0; n < nodes && rank == 0; ++n) {
      const node_id to{static_cast<std::uint16_t>(n)};
      if (to != owner && !shape_.members->is_dead(to)) send(to, copy, s.written != 0, out);
    }
    return;
  }
  for (unsigned child = rank * fan_out + 1; child <= rank * fan_out + fan_out && child < nodes; ++child) {
    send(node_id{static_cast<std::uint16_t>((owner.value() + child) % nodes)}, copy, s.written != 0, out);
  }
}

void machine::on_fetch_push(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  CHECK(s.right() >= access::read);
  lower(m.unit, s, access::read, out);
  push_on(m, shape_.self, out);
}

void machine::on_push_copy(const message& m, actions& out) {
  unit_state& s = touch(m.unit);
  CHECK(s.right() != access::write);
  if ((m.flags & message_flag::zero) == 0) s.written = 1;
  s.set_right(access::read);
  note_content(m);
  permit(m.unit, s, access::read, out);
  push_on(m, node_id{static_cast<std::uint16_t>(m.a)}, out);
  send(manager_of(m.unit), reply_to(m, message_kind::push_ack), false, out);
  // Threads that wait for more would wake for nothing, and be told when they have it.
  if (s.pending() != access::write) out.add(action_kind::wake, m.unit);
}

/// From now on a write is noticed (README.md, I11).
void machine::on_produce_begin(std::uint64_t unit, actions& out) {
  unit_state& s = touch(unit);
  s.producing = 1;
  if (s.mapped() != access::write) return;
  auto& a = out.add(action_kind::protect, unit);
  a.from = access::write;
  a.level = access::read;
  s.set_mapped(access::read);
}

bool machine::on_produce_end(std::uint64_t unit) {
  unit_state& s = touch(unit);
  const bool produced = s.producing == 0 && s.right() == access::write;
  s.producing = 0;
  return produced;
}

}  // namespace quire::sequential
