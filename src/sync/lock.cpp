// SPDX-License-Identifier: BSD-3-Clause
// A node's side of mutexes: its threads' queue, and the token while it is here.
#include "sync/lock.hpp"

#include <utility>

#include "base/status_number.hpp"

namespace quire::sync {

object_id lock_part::create() {
  const object_id id = shared_.next_id(object_kind::mutex);
  home_.make(id);
  local_.make(id).has_token = true;
  return id;
}

/// False for a handle of this node that it has not given out: a mutex that comes later must find no trace of it.
bool lock_part::may_exist(object_id id) const noexcept {
  return shared_.home_of(id) != shared_.self || home_.may_exist(id);
}

bool lock_part::is_requested(object_id id) const noexcept {
  const local* const l = local_.find(id);
  return l != nullptr && l->requested;
}

void lock_part::on_lock(const call& c, actions& out) {
  const object_id id{c.object};
  note_lock(id, c.now_ns);
  local* l = local_.find(id);
  if (l != nullptr && l->has_token && !l->rests) {
    if (!l->owned) {
      own(id, *l, c.thread);
      out.complete(c.token, std::exchange(l->orphaned, false) ? QUIRE_OWNER_DIED : QUIRE_OK);
      return;
    }
    // Waiting for oneself would never end.
    if (c.try_only || l->owner == c.thread) {
      out.complete(c.token, c.try_only ? QUIRE_BUSY : QUIRE_INVALID);
      return;
    }
  } else if (l != nullptr && c.try_only) {
    out.complete(c.token, QUIRE_BUSY);  // another thread of this node wants it already
    return;
  }
  if (l == nullptr && !may_exist(id)) {
    out.complete(c.token, QUIRE_NOT_FOUND);
    return;
  }
  if (l == nullptr) l = &local_.make(id);
  shared_.calls.push(l->waiting, shared_.calls.add(c));
  if (!l->has_token && !l->requested) request(id, *l, c.try_only, out);
}

void lock_part::acquire(object_id id, ticket t, actions& out) {
  local* l = local_.find(id);
  if (l == nullptr && !may_exist(id)) {
    shared_.calls.finish(t, QUIRE_NOT_FOUND, out);
    return;
  }
  if (l == nullptr) l = &local_.make(id);
  shared_.calls.push(l->waiting, t);
  if (l->has_token && !l->owned && !l->rests) {
    take(id, *l, shared_.calls.pop(l->waiting), out);
  } else if (!l->has_token && !l->requested) {
    request(id, *l, false, out);
  }
}

void lock_part::on_unlock(const call& c, actions& out) {
  const object_id id{c.object};
  const local* const l = local_.find(id);
  if (l == nullptr || !l->has_token) {
    (void)shared_.ask_home(c, out);  // the caller's mistake; the home knows which
  } else if (!l->owned || l->owner != c.thread) {
    out.complete(c.token, QUIRE_NOT_OWNER);
  } else {
    release(id, c.thread, c.now_ns, out);
    out.complete(c.token, QUIRE_OK);
  }
}

bool lock_part::is_owner(object_id id, std::uint32_t thread) const noexcept {
  const local* const l = local_.find(id);
  return l != nullptr && l->owned && l->owner == thread;
}

bool lock_part::has_token(object_id id) const noexcept {
  const local* const l = local_.find(id);
  return l != nullptr && l->has_token;
}

void lock_part::release(object_id id, std::uint32_t thread, std::uint64_t now_ns, actions& out) {
  if (!is_owner(id, thread)) return;
  note_unlock(id, now_ns);
  local& l = *local_.find(id);
  l.owned = false;
  pass_on(id, l, out);
}

/// The mutex is free here: the next owner is another node or a thread of this one.
void lock_part::pass_on(object_id id, local& l, actions& out) {
  if (l.wanted && (l.waiting.empty() || l.grants >= max_local_grants)) {
    if (!linger(id, l, out)) hand_over(id, l, l.next, out);
  } else if (!l.waiting.empty()) {
    take(id, l, shared_.calls.pop(l.waiting), out);
  }
}

void lock_part::own(object_id id, local& l, std::uint32_t thread) noexcept {
  if (std::exchange(l.lingers, false)) note_use(id);
  l.owned = true;
  l.owner = thread;
  if (l.wanted) ++l.grants;
}

void lock_part::take(object_id id, local& l, ticket t, actions& out) {
  const waiting_call& w = *shared_.calls.find(t);
  own(id, l, w.thread);
  shared_.calls.finish(t, std::exchange(l.orphaned, false) ? QUIRE_OWNER_DIED : w.result, out);
}

void lock_part::request(object_id id, local& l, bool try_only, actions& out) {
  if (shared_.recovering) return;  // resume() does it
  l.requested = true;
  message m = shared_.make(kind::lock_request, id);
  m.b = try_only ? 1 : 0;
  shared_.send(shared_.home_of(id), m, out);
}

void lock_part::hand_over(object_id id, local& l, node_id to, actions& out) {
  l.has_token = l.wanted = l.lingers = l.rests = false;
  const bool settled = shared_.home_of(id) == shared_.self;
  message m = shared_.make(kind::lock_grant, id);
  m.b = (settled ? 1 : 0) | (std::exchange(l.orphaned, false) ? 2 : 0);
  shared_.send(to, m, out);
  if (l.waiting.empty()) {
    local_.drop(id);
  } else {
    request(id, l, false, out);
  }
  if (settled) home_.on_arrived(id, to, out);  // as good as there: what the home sends now comes after the grant
}

void lock_part::end_waiting(local& l, quire_status status, actions& out) {
  while (!l.waiting.empty()) shared_.calls.finish(shared_.calls.pop(l.waiting), status, out);
}

void lock_part::withdraw(ticket t, actions& out) {
  // A token that is on its way finds nobody and stays here; the home knows no difference.
  local* const l = local_.find(shared_.calls.find(t)->object);
  CHECK(l != nullptr);
  shared_.calls.remove(l->waiting, t);
  shared_.calls.finish(t, QUIRE_TIMED_OUT, out);
}

void lock_part::forget_waiting() noexcept {
  for (auto& [id, l] : local_) {
    while (!l.waiting.empty()) (void)shared_.calls.pop(l.waiting);
  }
}

void lock_part::on_message(const message& m, actions& out) {
  switch (kind_of(m.kind)) {
    case kind::lock_request:
      return home_.on_lock_request(m, out);
    case kind::lock_pass:
      return on_pass(m, out);
    case kind::lock_grant:
      return on_grant(m, out);
    case kind::lock_arrived:
      return home_.on_arrived(object_id{m.unit}, m.from, out);
    case kind::lock_refused:
      return on_refused(m, out);
    case kind::lock_kept:
      return home_.on_kept(m, out);
    case kind::lock_revoke:
      return on_revoke(m, out);
    case kind::lock_revoked:
      return home_.on_revoked(m, out);
    case kind::lock_survives:
      return home_.on_survives(m);
    default:
      return;
  }
}

void lock_part::on_pass(const message& m, actions& out) {
  const object_id id{m.unit};
  local* const l = local_.find(id);
  if (l == nullptr || !l->has_token) return;
  if (m.b == 0) {
    l->wanted = true;
    l->next = m.requester;
    l->grants = 0;
    if (!l->owned) pass_on(id, *l, out);
  } else if (!l->owned) {
    hand_over(id, *l, m.requester, out);
  } else {
    home_.refuse(m.requester, id, QUIRE_BUSY, out);
    shared_.send(shared_.home_of(id), kind::lock_kept, id, out);
  }
}

void lock_part::on_grant(const message& m, actions& out) {
  const object_id id{m.unit};
  local* const l = local_.find(id);
  if (l == nullptr || !l->requested) return;
  l->requested = false;
  l->has_token = true;
  l->wanted = false;
  l->orphaned = (m.b & 2) != 0;
  if (!l->waiting.empty()) take(id, *l, shared_.calls.pop(l->waiting), out);
  if ((m.b & 1) != 0) return;
  // The home's next order may be for itself, so it comes after the take.
  if (shared_.home_of(id) == shared_.self) return home_.on_arrived(id, shared_.self, out);
  shared_.send(shared_.home_of(id), kind::lock_arrived, id, out);
}

void lock_part::on_refused(const message& m, actions& out) {
  const object_id id{m.unit};
  local* const l = local_.find(id);
  if (l == nullptr || !l->requested) return;
  const auto status = base::status_of(m.operation);
  if (status != QUIRE_BUSY) {
    end_waiting(*l, status, out);
  } else if (!l->waiting.empty() && shared_.calls.find(shared_.calls.front(l->waiting))->try_only) {
    // Only the call that made the node ask can be a try, so it stands first, unless it has been withdrawn.
    shared_.calls.finish(shared_.calls.pop(l->waiting), QUIRE_BUSY, out);
  }
  if (l->waiting.empty()) {
    local_.drop(id);
  } else {
    request(id, *l, false, out);
  }
}

void lock_part::on_revoke(const message& m, actions& out) {
  const object_id id{m.unit};
  local* const l = local_.find(id);
  if (l == nullptr || !l->has_token) return;
  end_waiting(*l, QUIRE_NOT_FOUND, out);
  local_.drop(id);
  shared_.send(shared_.home_of(id), kind::lock_revoked, id, out);
}

bool lock_part::is_valid() const noexcept {
  if (shared_.recovering) return true;
  for (const auto& [id, l] : local_) {
    if (l.owned && !l.has_token) return false;
    if (l.wanted && !l.has_token) return false;
    if (l.has_token && l.requested) return false;
    if (l.has_token && !l.owned && !l.rests && (l.wanted != l.lingers || !l.waiting.empty())) return false;
    if (l.lingers && (l.owned || !l.wanted || l.grants >= max_local_grants)) return false;
    if (!l.has_token && !l.requested) return false;  // such an entry is dropped
    if (l.grants > max_local_grants) return false;
  }
  return home_.is_valid();
}

}  // namespace quire::sync
