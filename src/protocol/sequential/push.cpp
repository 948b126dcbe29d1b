// SPDX-License-Identifier: BSD-3-Clause
// Push (Millipage, section 4.3) and page broadcasting (KOAN, BeginProduction and EndProduction): copies that nobody has
// asked for go to all nodes. They travel by a tree whose root is the owner, so that nobody sends more than `fan_out`
// times, and every node tells the manager when it has its own; until the last has, the unit does not change.
#include "protocol/sequential/push.hpp"

namespace quire::sequential {

using model::action_kind;
using model::message_kind;
namespace message_flag = model::message_flag;

namespace {
constexpr unsigned fan_out = 4;
}

void broadcasts::on_push(std::uint64_t unit, std::uint64_t token, actions& out) {
  node_.end_hold(unit, table_.touch(unit), out);
  message m;
  m.kind = message_kind::push_request;
  m.unit = unit;
  m.requester = table_.shape.self;
  m.token = token;
  table_.send(table_.manager_of(unit), m, false, out);
}

/// Copies for the nodes below this one in the tree of `owner`.
void broadcasts::push_on(const message& m, node_id owner, actions& out) {
  const unsigned nodes = table_.shape.nodes.nodes;
  const unsigned rank = (table_.shape.self.value() + nodes - owner.value()) % nodes;
  message copy = table_.reply_to(m, message_kind::push_copy);
  copy.a = owner.value();
  if (table_.replicated()) copy.b = table_.shape.replicas.units[m.unit].stamp;
  const unit_state& s = table_.units[m.unit];
  if (s.written == 0) copy.flags |= message_flag::zero;
  if (table_.shape.members != nullptr && table_.shape.members->dead != 0) {  // a tree would have holes
    for (unsigned n = 0; n < nodes && rank == 0; ++n) {
      const node_id to{static_cast<std::uint16_t>(n)};
      if (to != owner && !table_.shape.members->is_dead(to)) send_copy(to, copy, s, out);
    }
    return;
  }
  for (unsigned child = rank * fan_out + 1; child <= rank * fan_out + fan_out && child < nodes; ++child) {
    send_copy(node_id{static_cast<std::uint16_t>((owner.value() + child) % nodes)}, copy, s, out);
  }
}

void broadcasts::send_copy(node_id to, message copy, const unit_state& s, actions& out) {
  // (I19). Who has not asked holds no frame.
  const bool in_frame = s.written != 0 && table_.is_in_frame_of(to) && !table_.shape.pages_out;
  if (in_frame) {
    copy.flags |= message_flag::no_data;
    ++table_.count.host_units;
  }
  table_.send(to, copy, s.written != 0 && !in_frame, out);
}

void broadcasts::on_fetch_push(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  CHECK(s.right() >= access::read);
  if (table_.shape.one_memory) {
    s.written = s.read_first = 1;  // (I20)
  } else {
    node_.lower(m.unit, s, access::read, out);
  }
  push_on(m, table_.shape.self, out);
}

void broadcasts::on_push_copy(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  CHECK(s.right() != access::write || table_.shape.one_memory);
  if ((m.flags & message_flag::zero) == 0) s.written = 1;
  s.set_right(table_.shape.one_memory ? access::write : access::read);
  if (table_.shape.one_memory) s.read_first = 1;
  marks_.note_content(m);
  node_.permit(m.unit, s, access::read, out);
  push_on(m, node_id{static_cast<std::uint16_t>(m.a)}, out);
  table_.send(table_.manager_of(m.unit), table_.reply_to(m, message_kind::push_ack), false, out);
  // Threads that wait for more would wake for nothing, and be told when they have it.
  if (s.pending() != access::write) out.add(action_kind::wake, m.unit);
}

/// From now on a write is noticed (README.md, I11).
void broadcasts::on_produce_begin(std::uint64_t unit, actions& out) {
  unit_state& s = table_.touch(unit);
  s.producing = 1;
  if (s.mapped() != access::write) return;
  auto& a = out.add(action_kind::protect, unit);
  a.from = access::write;
  a.level = access::read;
  s.set_mapped(access::read);
}

bool broadcasts::on_produce_end(std::uint64_t unit) {
  unit_state& s = table_.touch(unit);
  const bool produced = s.producing == 0 && s.right() == access::write;
  s.producing = 0;
  return produced;
}

}  // namespace quire::sequential
