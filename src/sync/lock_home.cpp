// SPDX-License-Identifier: BSD-3-Clause
// The home's side of mutexes: where the token is, who gets it next. One move at a time, so that an order to pass the
// token on never finds it missing. A move from the home ends when the grant leaves, any other one when it has arrived.
#include <utility>

#include "sync/lock.hpp"

namespace quire::sync {

void lock_part::refuse(node_id to, object_id id, quire_status status, actions& out) const {
  message m = shared_.make(kind::lock_refused, id);
  m.operation = static_cast<std::uint32_t>(status);
  shared_.send(to, m, out);
}

void lock_part::on_lock_request(const message& m, actions& out) {
  const object_id id{m.unit};
  entry* const e = find_home(id, out);
  if (e == nullptr || e->dying) return refuse(m.from, id, QUIRE_NOT_FOUND, out);
  if (m.from == shared_.self && std::exchange(e->own_is_stale, false)) return;
  const bool try_only = m.b != 0;
  if (try_only && (e->passing || !e->queue.empty())) return refuse(m.from, id, QUIRE_BUSY, out);
  shared_.waiters.push(e->queue, {m.from, try_only, {}});
  if (!e->passing) proceed(id, *e, out);
}

/// The token rests at its holder.
void lock_part::proceed(object_id id, entry& e, actions& out) {
  e.passing = false;
  if (e.dying) return shared_.send(e.holder, kind::lock_revoke, id, out);
  if (e.queue.empty()) return;
  const waiter next = shared_.waiters.pop(e.queue);
  e.passing = true;
  e.next = next.node;
  message m = shared_.make(kind::lock_pass, id);
  m.requester = next.node;
  m.b = next.exclusive ? 1 : 0;
  // The home's own token is free or locked here and now: no message about it is on its way that this could overtake.
  if (e.holder == shared_.self) return on_pass(m, out);
  shared_.send(e.holder, m, out);
}

/// The token is at `at`, or on its way from here to there.
void lock_part::on_arrived(object_id id, node_id at, actions& out) {
  entry* const e = home_.find(id);
  if (e == nullptr || !e->passing || e->next != at) return;
  e->holder = at;
  proceed(id, *e, out);
}

void lock_part::on_kept(const message& m, actions& out) {
  const object_id id{m.unit};
  entry* const e = home_.find(id);
  if (e != nullptr && e->passing && e->holder == m.from) proceed(id, *e, out);
}

void lock_part::on_request(const message& m, actions& out) {
  const object_id id{m.unit};
  entry* const e = find_home(id, out);
  // Asked again after a death: what it had asked for is under way.
  if (e != nullptr && e->dying && e->destroyer.node == m.from && e->destroyer.who == ticket{m.token}) return;
  if (e == nullptr || e->dying) return shared_.reply(m, QUIRE_NOT_FOUND, out);
  if (m.operation != static_cast<std::uint32_t>(operation::mutex_destroy))
    return shared_.reply(m, QUIRE_NOT_OWNER, out);
  e->dying = true;
  e->destroyer = waiter_of(m);
  while (!e->queue.empty()) refuse(shared_.waiters.pop(e->queue).node, id, QUIRE_NOT_FOUND, out);
  // If the token has left its holder already, it answers nothing, and the next one is asked when it has arrived there.
  shared_.send(e->holder, kind::lock_revoke, id, out);
}

void lock_part::on_revoked(const message& m, actions& out) {
  const object_id id{m.unit};
  entry* const e = home_.find(id);
  if (e == nullptr || !e->dying) return;
  if (e->passing) refuse(e->next, id, QUIRE_NOT_FOUND, out);
  end_destroy(id, out);
}

void lock_part::end_destroy(object_id id, actions& out) {
  const waiter destroyer = home_.find(id)->destroyer;
  home_.drop(id);
  if (shared_.is_inherited(id)) destroyed_.push_back(id);
  shared_.reply(destroyer.node, destroyer.who, id, QUIRE_OK, out);
}

lock_part::entry* lock_part::find_home(object_id id, actions& out) {
  entry* const e = home_.find(id);
  return e == nullptr && may_inherit(id) ? &inherit(id, out) : e;
}

}  // namespace quire::sync
