// SPDX-License-Identifier: BSD-3-Clause
// A node of the job is dead, and the others go on (README.md, Deaths). Of each mutex the tokens that survive are reported to its
// home, or to the next node alive; a token that nobody has was the dead node's, or on its way from or to it: it is made
// again, and whoever gets it first hears that what it guards may be half done.
#include <algorithm>

#include "sync/lock.hpp"

#include "base/fault_heap.hpp"

namespace quire::sync {

/// Moves are over, wherever they were. Threads that wait go on waiting; resume() asks for them again.
void lock_part::cut() {
  for (auto& [id, l] : local_) {
    l.requested = l.wanted = l.lingers = false;
    l.grants = 0;
  }
  for (auto& [id, e] : home_) {
    e.passing = e.found = e.own_is_stale = false;
    while (!e.queue.empty()) (void)shared_.waiters.pop(e.queue);
  }
}

/// Of what was sent before its sender knew, only a token counts, and that one is gone for good. The rest is asked for again.
void lock_part::absorb(const message& m, actions& out) {
  const object_id id{m.unit};
  if (kind_of(m.kind) == kind::lock_revoked) return on_revoked(m, out);
  if (kind_of(m.kind) != kind::lock_grant) return;
  local* l = local_.find(id);
  if (l == nullptr) l = &local_.make(id);
  l->has_token = true;
  l->orphaned = (m.b & 2) != 0;
  if (!l->owned && !l->waiting.empty()) take(id, *l, shared_.calls.pop(l->waiting), out);
}

void lock_part::report(actions& out) {
  for (const auto& [id, l] : local_) {
    if (l.has_token) shared_.send(shared_.home_of(id), kind::lock_survives, id, out);
  }
}

void lock_part::on_survives(const message& m) {
  const object_id id{m.unit};
  if (!shared_.recovering || shared_.home_of(id) != shared_.self) return;
  entry* e = home_.find(id);
  if (e == nullptr && !shared_.is_inherited(id)) return;
  if (e == nullptr) e = &home_.make(id);
  e->holder = m.from;
  e->found = true;
}

/// All reports are here.
void lock_part::settle(actions& out) {
  base::fault_vector<object_id> destroyed;
  for (auto& [id, e] : home_) {
    if (e.found) {
      if (e.dying) shared_.send(e.holder, kind::lock_revoke, id, out);
    } else if (e.dying) {
      destroyed.push_back(id);
    } else {
      e.holder = shared_.self;
      adopt_token(id, out);
    }
    e.found = false;
  }
  for (const object_id id : destroyed) end_destroy(id, out);
}

/// This node, the home, has the token from now on; nobody else does.
void lock_part::adopt_token(object_id id, actions& out) {
  local* l = local_.find(id);
  if (l == nullptr) l = &local_.make(id);
  l->has_token = l->orphaned = true;
  l->requested = l->wanted = false;
  if (!l->owned && !l->waiting.empty()) take(id, *l, shared_.calls.pop(l->waiting), out);
}

void lock_part::resume(actions& out) {
  base::fault_vector<object_id> idle;
  for (auto& [id, l] : local_) {
    if (l.has_token || l.requested) continue;
    if (l.waiting.empty()) {
      idle.push_back(id);
    } else {
      request(id, l, shared_.calls.find(shared_.calls.front(l.waiting))->try_only, out);
    }
  }
  for (const object_id id : idle) local_.drop(id);
}

/// A mutex that a dead node kept, and of which no survivor has the token. Nobody alive can tell whether it was ever made.
bool lock_part::may_inherit(object_id id) const noexcept {
  return shared_.is_inherited(id) &&
         std::find(destroyed_.begin(), destroyed_.end(), id) == destroyed_.end();
}

lock_part::entry& lock_part::inherit(object_id id, actions& out) {
  entry& e = home_.make(id);
  e.holder = shared_.self;
  const local* const l = local_.find(id);
  e.own_is_stale = l != nullptr && l->requested;
  adopt_token(id, out);
  return e;
}

}  // namespace quire::sync
