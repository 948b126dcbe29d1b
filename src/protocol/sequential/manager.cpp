// SPDX-License-Identifier: BSD-3-Clause
// The manager's side of the sequential protocol: one request of a unit is served at a time, the others queue here. The
// requester's `done` ends it, so that a node never gets an order for a unit that is still on its way to it (README.md, I5). Where
// all that the requester waits for comes from the manager's own node, the order of messages sees to that: the request is settled
// at once, and there is no `done` (I7).
#include "protocol/sequential/machine.hpp"

namespace quire::sequential {

using model::action_kind;
using model::copyset;
using model::message_kind;
namespace message_flag = model::message_flag;

directory_entry& machine::touch_entry(std::uint64_t unit) noexcept {
  CHECK(unit < shape_.units && manager_of(unit) == shape_.self);
  directory_entry& e = entries_[unit];
  if (e.touched == 0) {
    used_.add(unit);
    const node_id first = shape_.managers.of(unit);
    if (first != shape_.self) {  // inherited from a dead node, and nobody alive has it
      if (!replicated() || shape_.members->died_together(first)) {
        e.touched = directory_entry::lost;
        return e;
      }
      regain(unit);  // with replicas that means: nobody has ever written it
    }
    e.touched = 1;
    e.owner = shape_.self;
    e.copies = copyset::of(shape_.nodes, shape_.self);
  }
  return e;
}

void machine::on_request(const message& m, actions& out) {
  directory_entry& e = touch_entry(m.unit);
  if (e.touched == directory_entry::lost) return refuse_lost(m, out);
  if (!e.requests.empty()) {
    ++count_.competing_requests;
    requests_.push(e.requests, m);
  } else if (stalls(m)) {
    e.served_by = e.owner;
    requests_.push(e.requests, m);
  } else if (!settle(m, e, out)) {
    requests_.push(e.requests, m);
    serve(m.unit, e, out);
  }
}

/// Does all of the request now, if this node can do so alone (I7). While a unit is not busy no order about it is on its way to
/// this node itself, so that the node's part may be done right here.
bool machine::settle(const message& m, directory_entry& e, actions& out) {
  if (m.requester == shape_.self || (m.flags & message_flag::keep) != 0) return false;
  if (units_[m.unit].pinned != 0) return false;  // in the queue, until this node's threads have done with it
  switch (m.kind) {
    case message_kind::read_request: return settle_read(m, e, out);
    case message_kind::write_request: return settle_write(m, e, out);
    case message_kind::atomic_request: return settle_atomic(m, e, out);
    default: return false;
  }
}

bool machine::settle_read(const message& m, directory_entry& e, actions& out) {
  const auto g = shape_.nodes;
  const bool mine = e.owner == shape_.self || (g.exact() && e.copies.may_contain(g, shape_.self));
  if (!mine) return false;
  e.copies.add(g, m.requester);
  message f = reply_to(m, message_kind::fetch_read);
  f.flags = message_flag::settled;
  on_fetch(f, out);
  return true;
}

bool machine::settle_write(const message& m, directory_entry& e, actions& out) {
  const auto g = shape_.nodes;
  const bool has_copy = m.requester == e.owner || (g.exact() && e.copies.may_contain(g, m.requester));
  if (!has_copy && e.owner != shape_.self) return false;
  if (model::node_set{e.copies, g, m.requester, shape_.self}.count() != 0) return false;
  message r = reply_to(m, has_copy ? message_kind::write_grant : message_kind::fetch_write);
  r.flags = message_flag::settled;
  if (has_copy) {
    tell_backup(m.requester, e, r);
    lower(m.unit, touch(m.unit), access::none, out);
    send(m.requester, r, false, out);
  } else {
    on_fetch(r, out);
  }
  e.owner = m.requester;
  e.copies = copyset::of(g, m.requester);
  return true;
}

bool machine::settle_atomic(const message& m, directory_entry& e, actions& out) {
  if (e.owner != shape_.self || model::node_set{e.copies, shape_.nodes, e.owner, e.owner}.count() != 0) return false;
  message f = m;
  f.flags |= message_flag::settled;
  on_atomic_fetch(f, out);
  return true;
}

/// Starts the request at the front of the queue.
void machine::serve(std::uint64_t unit, directory_entry& e, actions& out) {
  const message m = requests_.front(e.requests);
  CHECK(m.unit == unit);
  e.served_by = e.owner;
  switch (m.kind) {
    case message_kind::read_request: return serve_read(m, e, out);
    case message_kind::write_request: return serve_write(m, e, out);
    case message_kind::atomic_request: return serve_atomic(m, e, out);
    default: return serve_push(m, e, out);
  }
}

/// While a request is being served, the directory says already what will be.
node_id machine::holder_of(std::uint64_t unit) const noexcept {
  const directory_entry& e = entries_[unit];
  if (e.touched == 0) return shape_.self;
  return e.requests.empty() ? e.owner : e.served_by;
}

void machine::serve_read(const message& m, directory_entry& e, actions& out) {
  const auto g = shape_.nodes;
  if (g.exact() && e.copies.may_contain(g, m.requester)) {
    // Pushed there while the request was on its way.
    message r = reply_to(m, message_kind::read_reply);
    r.flags = message_flag::no_data;
    return send(m.requester, r, false, out);
  }
  // The manager's own copy, if it certainly has one, saves a hop; else the owner's.
  const bool mine = g.exact() && e.copies.may_contain(g, shape_.self);
  e.copies.add(g, m.requester);
  send(mine ? shape_.self : e.owner, reply_to(m, message_kind::fetch_read), false, out);
}

void machine::serve_write(const message& m, directory_entry& e, actions& out) {
  const auto g = shape_.nodes;
  // Whether the requester's own copy is current. With a coarse copyset only the owner's is certain.
  const bool has_copy = m.requester == e.owner || (g.exact() && e.copies.may_contain(g, m.requester));
  const model::node_set losers{e.copies, g, m.requester, has_copy ? m.requester : e.owner};
  const unsigned acks = losers.count();
  if (acks != 0) {
    auto& a = out.add(action_kind::multicast, m.unit);
    a.targets = losers;
    a.m = reply_to(m, message_kind::invalidate);
    a.m.region = shape_.region;
    a.m.from = shape_.self;
  }
  message r = reply_to(m, has_copy ? message_kind::write_grant : message_kind::fetch_write);
  r.acks = acks;
  if (has_copy) tell_backup(m.requester, e, r);
  send(has_copy ? m.requester : e.owner, r, false, out);
  e.owner = m.requester;
  e.copies = copyset::of(g, m.requester);
}

/// An atomic operation is done by the owner, alone: copies elsewhere go first, and acknowledge to the manager.
void machine::serve_atomic(const message& m, directory_entry& e, actions& out) {
  const auto g = shape_.nodes;
  const model::node_set losers{e.copies, g, e.owner, e.owner};
  e.acks_left = static_cast<std::uint16_t>(losers.count());
  if (e.acks_left == 0) return forward_atomic(m, e, out);
  auto& a = out.add(action_kind::multicast, m.unit);
  a.targets = losers;
  a.m = reply_to(m, message_kind::invalidate);
  a.m.region = shape_.region;
  a.m.from = shape_.self;
  a.m.operation = 1;  // collect at the manager
}

void machine::forward_atomic(const message& m, directory_entry& e, actions& out) {
  e.copies = copyset::of(shape_.nodes, e.owner);
  message f = m;
  f.kind = message_kind::atomic_fetch;
  send(e.owner, f, false, out);
}

void machine::on_manager_ack(const message& m, actions& out) {
  directory_entry& e = touch_entry(m.unit);
  CHECK(e.acks_left > 0);
  if (--e.acks_left == 0) forward_atomic(requests_.front(e.requests), e, out);
}

void machine::serve_push(const message& m, directory_entry& e, actions& out) {
  const unsigned dead = shape_.members != nullptr ? static_cast<unsigned>(__builtin_popcountll(shape_.members->dead)) : 0;
  e.acks_left = static_cast<std::uint16_t>(shape_.nodes.nodes - dead - 1);
  if (e.acks_left == 0) {
    send(m.requester, reply_to(m, message_kind::push_reply), false, out);
    return finish(m.unit, e, out);
  }
  send(e.owner, reply_to(m, message_kind::fetch_push), false, out);
}

void machine::on_push_ack(const message& m, actions& out) {
  directory_entry& e = touch_entry(m.unit);
  CHECK(e.acks_left > 0);
  e.copies.add(shape_.nodes, m.from);  // (I4), one by one: a node may give its copy up before the others have theirs
  if (--e.acks_left != 0) return;
  send(m.requester, reply_to(m, message_kind::push_reply), false, out);
  finish(m.unit, e, out);
}

void machine::on_done(const message& m, actions& out) {
  directory_entry& e = touch_entry(m.unit);
  CHECK(!e.requests.empty() && requests_.front(e.requests).requester == m.requester);  // (I5)
  finish(m.unit, e, out);
}

/// The request at the front has been served; the next, if there is one, begins, in the order of their coming (I14).
void machine::finish(std::uint64_t unit, directory_entry& e, actions& out) {
  requests_.pop(e.requests);
  if (!e.requests.empty()) serve(unit, e, out);
}

}  // namespace quire::sequential
