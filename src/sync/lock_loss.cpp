// SPDX-License-Identifier: BSD-3-Clause
// A node of the job is dead, and the others go on (README.md, Deaths). Of each mutex the tokens that survive are
// reported to its home, or to the next node alive; a token that nobody has was the dead node's, or on its way from or
// to it: it is made again, and whoever gets it first hears that what it guards may be half done.
#include "sync/lock.hpp"

#include <utility>

#include "base/fault_heap.hpp"

namespace quire::sync {

/// Moves are over, wherever they were. Threads that wait go on waiting; resume() asks for them again.
void lock_part::cut() {
  for (auto& [id, l] : local_) {
    l.requested = l.wanted = l.lingers = false;
    l.grants = 0;
  }
  home_.cut();
}

/// Of what was sent before its sender knew, only a token counts, and that one is gone for good. The rest is asked for
/// again.
void lock_part::absorb(const message& m, actions& out) {
  const object_id id{m.unit};
  if (kind_of(m.kind) == kind::lock_revoked) return home_.on_revoked(m, out);
  if (kind_of(m.kind) != kind::lock_grant) return;
  local* l = local_.find(id);
  if (l == nullptr) l = &local_.make(id);
  l->has_token = l->rests = true;
  l->orphaned = (m.b & 2) != 0;
}

void lock_part::report(actions& out) {
  for (const auto& [id, l] : local_) {
    if (l.has_token) shared_.send(shared_.home_of(id), kind::lock_survives, id, out);
  }
}

/// This node, the home, has the token from now on; nobody else does.
void lock_part::adopt_token(object_id id, bool orphaned, actions& out) {
  local* l = local_.find(id);
  if (l == nullptr) l = &local_.make(id);
  l->has_token = true;
  l->orphaned = orphaned;
  l->requested = l->wanted = false;
  if (!l->owned && !l->waiting.empty()) take(id, *l, shared_.calls.pop(l->waiting), out);
}

bool lock_part::holds_any() const noexcept {
  for (const auto& [id, l] : local_) {
    if (l.owned || l.orphaned) return true;
  }
  return false;
}

void lock_part::resume(actions& out) {
  base::fault_vector<object_id> idle;
  for (auto& [id, l] : local_) {
    const bool rested = std::exchange(l.rests, false);  // but others may have gone on before, and asked for it
    if (rested && l.has_token && !l.owned && !l.waiting.empty()) take(id, l, shared_.calls.pop(l.waiting), out);
    if (l.has_token || l.requested) continue;
    if (l.waiting.empty()) {
      idle.push_back(id);
    } else {
      request(id, l, shared_.calls.find(shared_.calls.front(l.waiting))->try_only, out);
    }
  }
  for (const object_id id : idle) local_.drop(id);
}

}  // namespace quire::sync
