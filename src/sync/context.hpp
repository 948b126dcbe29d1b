// SPDX-License-Identifier: BSD-3-Clause
// What the parts of one node's synchronisation machine share: who it is, its waiting calls, and the ways to answer.
#pragma once

#include "model/membership.hpp"
#include "sync/call_table.hpp"
#include "sync/kinds.hpp"
#include "sync/waiters.hpp"

namespace quire::sync {

struct context {
  node_id self{};
  unsigned nodes = 1;
  unsigned makers = 1;           ///< nodes that may have made objects: as many as the job has, or had before a restart
  bool lost = false;             ///< a node of the job is lost: nothing may wait any more
  model::membership members{};   ///< who of them is dead, while the others go on (README.md, Deaths)
  bool recovering = false;       ///< what has to wait for the end of that waits
  bool comes = false;            ///< this node was not there at the start of the job, and is not a member yet
  std::uint64_t newly_gone = 0;  ///< since all went on last
  std::uint64_t violent = 0;     ///< those who did not all leave of their own accord: what they had may be half done
  call_table calls{};
  waiter_pool waiters{};

  /// Of a mutex, the next node alive takes over what a dead home kept.
  [[nodiscard]] node_id home_of(object_id id) const noexcept {
    const node_id first = sync::home_of(id, nodes);
    return kind_of(id) == object_kind::mutex ? members.successor(first, nodes) : first;
  }
  /// A mutex whose first home is dead, and which is this node's to keep.
  [[nodiscard]] bool is_inherited(object_id id) const noexcept {
    return members.is_dead(sync::home_of(id, nodes)) && home_of(id) == self;
  }
  /// Some of those that are newly gone are dead.
  void note_violence() noexcept { violent |= newly_gone; }
  /// Nobody who is newly gone can have had a mutex locked.
  [[nodiscard]] bool all_left_in_peace() const noexcept { return (newly_gone & violent) == 0; }
  /// The same of those who were when a home of this mutex went, its first one or one after that.
  [[nodiscard]] bool homes_left_in_peace(object_id id) const noexcept {
    const auto is_violent = [this](node_id n) { return violent != 0 && (violent >> n.value() & 1) != 0; };
    node_id home = sync::home_of(id, nodes);
    if (is_violent(home)) return false;
    if (members.has_left(home)) home = node_id{0};
    for (const node_id now = home_of(id); home != now;
         home = node_id{static_cast<std::uint16_t>((home.value() + 1) % nodes)}) {
      if (is_violent(home)) return false;
    }
    return true;
  }
  /// What only its dead home knew. A group has no home.
  [[nodiscard]] bool is_lost(object_id id) const noexcept {
    return kind_of(id) != object_kind::none && kind_of(id) != object_kind::group && members.is_dead(home_of(id));
  }
  [[nodiscard]] object_id next_id(object_kind kind) noexcept { return make_object_id(kind, self, ++made); }

  message make(kind k, object_id object) const noexcept {
    message m;
    m.kind = message_kind_of(k);
    m.from = m.requester = self;
    m.unit = object.value();
    return m;
  }
  static void send_piece(node_id to, const message& m, actions& out, std::span<const std::byte> piece) {
    action& a = out.add(action_kind::send);
    a.to = to;
    a.m = m;
    a.m.payload_bytes = static_cast<std::uint32_t>(piece.size());
    a.piece = piece;
  }
  static void send(node_id to, const message& m, actions& out, const value& payload = {}) {
    action& a = out.add(action_kind::send);
    a.to = to;
    a.m = m;
    a.m.payload_bytes = static_cast<std::uint32_t>(payload.size());
    a.values = payload;
  }
  void send(node_id to, kind k, object_id object, actions& out) const { send(to, make(k, object), out); }

  /// Home: ends the call `who` of `node`; none: nobody waits.
  void reply(node_id node, ticket who, object_id object, quire_status status, actions& out) const {
    if (who == ticket{}) return;
    message m = make(kind::reply, object);
    m.token = who.value();
    m.operation = static_cast<std::uint32_t>(status);
    send(node, m, out);
  }
  void reply(const message& request, quire_status status, actions& out) const {
    reply(request.from, ticket{request.token}, object_id{request.unit}, status, out);
  }
  /// Home: ends all calls of a queue.
  void reply_all(waiter_queue& q, object_id object, quire_status status, actions& out) {
    while (!q.empty()) {
      const waiter w = waiters.pop(q);
      reply(w.node, w.who, object, status, out);
    }
  }

  /// Node: sends a call to its object's home, which answers it. The ticket under which it waits.
  ticket ask_home(const call& c, actions& out) {
    if (lost) {
      out.complete(c.token, QUIRE_PEER_LOST);
      return {};
    }
    const object_id object{c.object};
    if (is_lost(object)) {
      out.complete(c.token, QUIRE_LOST);
      return {};
    }
    const ticket t = calls.add(c);
    if (recovering && kind_of(object) == object_kind::mutex) return t;  // asked at the end of it
    message m = make(kind::request, object);
    m.token = t.value();
    m.operation = static_cast<std::uint32_t>(c.what);
    m.a = c.operand;
    m.b = c.try_only ? 1 : 0;
    send(home_of(object), m, out);
    return t;
  }

  /// Objects that this node has made, or passes over.
  std::uint64_t made = 0;
};

[[nodiscard]] inline waiter waiter_of(const message& request, bool exclusive = false) noexcept {
  return {request.from, exclusive, ticket{request.token}};
}

}  // namespace quire::sync
