// SPDX-License-Identifier: BSD-3-Clause
// The home's side of mutexes: where the token is, who gets it next. One move at a time, so that an order to pass the
// token on never finds it missing. A move from the home ends when the grant leaves, any other one when it has arrived.
#include <algorithm>
#include <utility>

#include "sync/lock_home.hpp"

namespace quire::sync {

void lock_home::refuse(node_id to, object_id id, quire_status status, actions& out) const {
  message m = shared_.make(kind::lock_refused, id);
  m.operation = static_cast<std::uint32_t>(status);
  shared_.send(to, m, out);
}

void lock_home::on_lock_request(const message& m, actions& out) {
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
void lock_home::proceed(object_id id, entry& e, actions& out) {
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
  if (e.holder == shared_.self) return own_.on_pass(m, out);
  shared_.send(e.holder, m, out);
}

/// The token is at `at`, or on its way from here to there.
void lock_home::on_arrived(object_id id, node_id at, actions& out) {
  entry* const e = homes_.find(id);
  if (e == nullptr || !e->passing || e->next != at) return;
  e->holder = at;
  proceed(id, *e, out);
}

void lock_home::on_kept(const message& m, actions& out) {
  const object_id id{m.unit};
  entry* const e = homes_.find(id);
  if (e != nullptr && e->passing && e->holder == m.from) proceed(id, *e, out);
}

void lock_home::on_request(const message& m, actions& out) {
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

void lock_home::on_revoked(const message& m, actions& out) {
  const object_id id{m.unit};
  entry* const e = homes_.find(id);
  if (e == nullptr || !e->dying) return;
  if (e->passing) refuse(e->next, id, QUIRE_NOT_FOUND, out);
  end_destroy(id, out);
}

void lock_home::end_destroy(object_id id, actions& out) {
  const waiter destroyer = homes_.find(id)->destroyer;
  homes_.drop(id);
  if (shared_.is_inherited(id)) destroyed_.push_back(id);
  shared_.reply(destroyer.node, destroyer.who, id, QUIRE_OK, out);
}

lock_home::entry* lock_home::find_home(object_id id, actions& out) {
  entry* const e = homes_.find(id);
  return e == nullptr && may_inherit(id) ? &inherit(id, out) : e;
}

// ---- A node is dead (lock_loss.cpp)

/// Moves are over, wherever they were.
void lock_home::cut() {
  for (auto& [id, e] : homes_) {
    e.passing = e.found = e.own_is_stale = false;
    while (!e.queue.empty()) (void)shared_.waiters.pop(e.queue);
  }
}

void lock_home::on_survives(const message& m) {
  const object_id id{m.unit};
  if (!shared_.recovering || shared_.home_of(id) != shared_.self) return;
  entry* e = homes_.find(id);
  if (e == nullptr && !shared_.is_inherited(id)) return;
  if (e == nullptr) e = &homes_.make(id);
  e->holder = m.from;
  e->found = true;
}

/// All reports are here.
void lock_home::settle(actions& out) {
  base::fault_vector<object_id> destroyed;
  for (auto& [id, e] : homes_) {
    if (e.found) {
      if (e.dying) shared_.send(e.holder, kind::lock_revoke, id, out);
    } else if (e.dying) {
      destroyed.push_back(id);
    } else {
      e.holder = shared_.self;
      own_.adopt_token(id, !shared_.all_left_in_peace(), out);
    }
    e.found = false;
  }
  for (const object_id id : destroyed) end_destroy(id, out);
}

/// A mutex that a dead node kept, and of which no survivor has the token. Nobody alive can tell whether it was ever
/// made.
bool lock_home::may_inherit(object_id id) const noexcept {
  return shared_.is_inherited(id) && std::find(destroyed_.begin(), destroyed_.end(), id) == destroyed_.end();
}

lock_home::entry& lock_home::inherit(object_id id, actions& out) {
  entry& e = homes_.make(id);
  e.holder = shared_.self;
  e.own_is_stale = own_.is_requested(id);
  own_.adopt_token(id, !shared_.homes_left_in_peace(id), out);
  return e;
}

bool lock_home::is_valid() const noexcept {
  for (const auto& [id, e] : homes_) {
    if (!e.passing && !e.dying && !e.queue.empty()) return false;
    if (e.dying && !e.queue.empty()) return false;
    if (e.holder == shared_.self && !e.passing && !e.dying && !own_.has_token(id)) return false;
  }
  return true;
}

}  // namespace quire::sync
