// SPDX-License-Identifier: BSD-3-Clause
// The manager's side of the sequential protocol: one request of a unit is served at a time, the others queue here. The
// requester's `done` ends it, so that a node never gets an order for a unit that is still on its way to it (README.md,
// I5). Where all that the requester waits for comes from the manager's own node, the order of messages sees to that:
// the request is settled at once, and there is no `done` (I7).
#include "protocol/sequential/manager.hpp"

namespace quire::sequential {

using model::action_kind;
using model::copyset;
using model::message_kind;
namespace message_flag = model::message_flag;

void manager_side::on_request(const message& m, actions& out) {
  directory_entry& e = table_.touch_entry(m.unit);
  if (e.touched == directory_entry::lost) return refuse_lost(m, out);
  if (!e.requests.empty()) {
    ++table_.count.competing_requests;
    table_.requests.push(e.requests, m);
  } else if (marks_.stalls(m)) {
    e.served_by = e.owner;
    table_.requests.push(e.requests, m);
  } else if (!settle(m, e, out)) {
    table_.requests.push(e.requests, m);
    serve(m.unit, e, out);
  }
}

/// Does all of the request now, if this node can do so alone (I7). While a unit is not busy no order about it is on its
/// way to this node itself, so that the node's part may be done right here.
bool manager_side::settle(const message& m, directory_entry& e, actions& out) {
  if (m.requester == table_.shape.self || (m.flags & message_flag::keep) != 0) return false;
  if (table_.units[m.unit].pinned != 0) return false;  // in the queue, until this node's threads have done with it
  switch (m.kind) {
    case message_kind::read_request:
      return settle_read(m, e, out);
    case message_kind::write_request:
      return settle_write(m, e, out);
    case message_kind::atomic_request:
      return settle_atomic(m, e, out);
    default:
      return false;
  }
}

bool manager_side::settle_read(const message& m, directory_entry& e, actions& out) {
  const auto g = table_.shape.nodes;
  const bool mine = e.owner == table_.shape.self || (g.exact() && e.copies.may_contain(g, table_.shape.self));
  if (!mine || (!table_.is_in_frame_of(m.requester) && has_neighbour(m.requester, e))) return false;
  e.copies.add(g, m.requester);
  message f = table_.reply_to(m, message_kind::fetch_read);
  f.flags = message_flag::settled;
  node_.on_fetch(f, out);
  return true;
}

bool manager_side::settle_write(const message& m, directory_entry& e, actions& out) {
  const auto g = table_.shape.nodes;
  const bool has_copy = m.requester == e.owner || (g.exact() && e.copies.may_contain(g, m.requester));
  if (!has_copy && e.owner != table_.shape.self) return false;
  if (model::node_set{e.copies, g, m.requester, table_.shape.self}.count() != 0) return false;
  message r = table_.reply_to(m, has_copy ? message_kind::write_grant : message_kind::fetch_write);
  r.flags = message_flag::settled;
  if (has_copy) {
    marks_.tell_backup(m.requester, e, r);
    node_.lower(m.unit, table_.touch(m.unit), access::none, out);
    table_.send(m.requester, r, false, out);
  } else {
    node_.on_fetch(r, out);
  }
  e.dirty = 1;
  e.owner = m.requester;
  e.copies = copyset::of(g, m.requester);
  return true;
}

bool manager_side::settle_atomic(const message& m, directory_entry& e, actions& out) {
  const bool alone =
      e.owner == table_.shape.self && model::node_set{e.copies, table_.shape.nodes, e.owner, e.owner}.count() == 0;
  if (!alone && !writes_beside_others(m.unit)) return false;
  e.dirty = 1;
  message f = m;
  f.flags |= message_flag::settled;
  node_.on_atomic_fetch(f, out);
  return true;
}

/// A node whose host has the content in a frame for certain, in place of another host's (I19); else `node` itself.
/// Where nodes give copies up it may be on its way to say so.
node_id manager_side::neighbour_of(node_id node, const directory_entry& e) const {
  const auto g = table_.shape.nodes;
  return g.exact() && !table_.shape.pages_out ? table_.shape.hosts.neighbour(e.copies, g, node) : node;
}
bool manager_side::has_neighbour(node_id node, const directory_entry& e) const { return neighbour_of(node, e) != node; }

/// This node may write the unit, whoever else may (I20).
bool manager_side::writes_beside_others(std::uint64_t unit) const {
  return table_.shape.one_memory && table_.right_of(unit) == access::write;
}

/// Starts the request at the front of the queue.
void manager_side::serve(std::uint64_t unit, directory_entry& e, actions& out) {
  const message m = table_.requests.front(e.requests);
  CHECK(m.unit == unit);
  e.served_by = e.owner;
  switch (m.kind) {
    case message_kind::read_request:
      return serve_read(m, e, out);
    case message_kind::write_request:
      return serve_write(m, e, out);
    case message_kind::atomic_request:
      return serve_atomic(m, e, out);
    default:
      return serve_push(m, e, out);
  }
}

void manager_side::serve_read(const message& m, directory_entry& e, actions& out) {
  const auto g = table_.shape.nodes;
  if (g.exact() && e.copies.may_contain(g, m.requester)) {
    // Pushed there while the request was on its way.
    message r = table_.reply_to(m, message_kind::read_reply);
    r.flags = message_flag::no_data;
    return table_.send(m.requester, r, false, out);
  }
  // The manager's own copy, if it certainly has one, saves a hop; else the owner's.
  // Before both a node whose frame is the requester's: no other host knows that what it was sent has come (I19).
  const bool mine = g.exact() && e.copies.may_contain(g, table_.shape.self);
  node_id from = mine ? table_.shape.self : e.owner;
  if (!table_.shape.hosts.together(from, m.requester)) {
    const node_id near = neighbour_of(m.requester, e);
    if (near != m.requester) from = near;
  }
  e.copies.add(g, m.requester);
  table_.send(from, table_.reply_to(m, message_kind::fetch_read), false, out);
}

void manager_side::serve_write(const message& m, directory_entry& e, actions& out) {
  const auto g = table_.shape.nodes;
  // Whether the requester's own copy is current. With a coarse copyset only the owner's is certain.
  const bool has_copy = m.requester == e.owner || (g.exact() && e.copies.may_contain(g, m.requester));
  const model::node_set losers{e.copies, g, m.requester, has_copy ? m.requester : e.owner};
  const unsigned acks = losers.count();
  if (acks != 0) {
    auto& a = out.add(action_kind::multicast, m.unit);
    a.targets = losers;
    a.m = table_.reply_to(m, message_kind::invalidate);
    a.m.region = table_.shape.region;
    a.m.from = table_.shape.self;
  }
  message r = table_.reply_to(m, has_copy ? message_kind::write_grant : message_kind::fetch_write);
  r.acks = acks;
  if (has_copy) marks_.tell_backup(m.requester, e, r);
  // The neighbour's acknowledgement, for which the requester waits, says that the content is in the frame (I19).
  if (!has_copy && has_neighbour(m.requester, e)) r.flags |= message_flag::no_data;
  table_.send(has_copy ? m.requester : e.owner, r, false, out);
  if (m.requester != table_.shape.self)
    e.dirty = 1;  // this node sees when its own threads are let in (note_writable())
  e.owner = m.requester;
  e.copies = copyset::of(g, m.requester);
}

/// An atomic operation is done by the owner, alone: copies elsewhere go first, and acknowledge to the manager. In one
/// memory anybody with a right to it does it, as processors do (I20).
void manager_side::serve_atomic(const message& m, directory_entry& e, actions& out) {
  if (table_.shape.one_memory) {
    message f = m;
    f.kind = message_kind::atomic_fetch;
    return table_.send(writes_beside_others(m.unit) ? table_.shape.self : e.owner, f, false, out);
  }
  const auto g = table_.shape.nodes;
  const model::node_set losers{e.copies, g, e.owner, e.owner};
  e.acks_left = static_cast<std::uint16_t>(losers.count());
  if (e.acks_left == 0) return forward_atomic(m, e, out);
  auto& a = out.add(action_kind::multicast, m.unit);
  a.targets = losers;
  a.m = table_.reply_to(m, message_kind::invalidate);
  a.m.region = table_.shape.region;
  a.m.from = table_.shape.self;
  a.m.operation = 1;  // collect at the manager
}

void manager_side::forward_atomic(const message& m, directory_entry& e, actions& out) {
  e.copies = copyset::of(table_.shape.nodes, e.owner);
  e.dirty = 1;
  message f = m;
  f.kind = message_kind::atomic_fetch;
  table_.send(e.owner, f, false, out);
}

void manager_side::on_manager_ack(const message& m, actions& out) {
  directory_entry& e = table_.touch_entry(m.unit);
  CHECK(e.acks_left > 0);
  if (--e.acks_left == 0) forward_atomic(table_.requests.front(e.requests), e, out);
}

void manager_side::serve_push(const message& m, directory_entry& e, actions& out) {
  const unsigned dead =
      table_.shape.members != nullptr ? static_cast<unsigned>(__builtin_popcountll(table_.shape.members->dead)) : 0;
  e.acks_left = static_cast<std::uint16_t>(table_.shape.nodes.nodes - dead - 1);
  if (e.acks_left == 0) {
    table_.send(m.requester, table_.reply_to(m, message_kind::push_reply), false, out);
    return finish(m.unit, e, out);
  }
  table_.send(e.owner, table_.reply_to(m, message_kind::fetch_push), false, out);
}

void manager_side::on_push_ack(const message& m, actions& out) {
  directory_entry& e = table_.touch_entry(m.unit);
  CHECK(e.acks_left > 0);
  e.copies.add(table_.shape.nodes,
               m.from);  // (I4), one by one: a node may give its copy up before the others have theirs
  if (--e.acks_left != 0) return;
  table_.send(m.requester, table_.reply_to(m, message_kind::push_reply), false, out);
  finish(m.unit, e, out);
}

void manager_side::on_done(const message& m, actions& out) {
  directory_entry& e = table_.touch_entry(m.unit);
  CHECK(!e.requests.empty() && table_.requests.front(e.requests).requester == m.requester);  // (I5)
  finish(m.unit, e, out);
}

/// The request at the front has been served; the next, if there is one, begins, in the order of their coming (I14). A
/// flush that is wanted comes first: so it waits for what is being served, and for no more.
void manager_side::finish(std::uint64_t unit, directory_entry& e, actions& out) {
  table_.requests.pop(e.requests);
  if (e.wanted != 0) flushes_.begin(unit, e, out);
  if (e.leaving != 0) flushes_.leave(unit, e, out);
  if (!e.requests.empty()) serve(unit, e, out);
}

/// The manager's answer to any request for a unit that is lost.
void manager_side::refuse_lost(const message& m, actions& out) const {
  message r = table_.reply_to(m, message_kind::unit_lost);
  r.operation = static_cast<std::uint32_t>(m.kind);
  table_.send(m.requester, r, false, out);
}

}  // namespace quire::sequential
