// SPDX-License-Identifier: BSD-3-Clause
// A mutex that threads of a node lock again as soon as they have unlocked it stays there for a moment although another
// node wants it. So a move serves several of them (cohort locks: Dice, Marathe and Shavit 2012). The data that it
// guards lies in pages that move behind it: each costs several times as much as the move itself.
//
// Where that has not been seen a few times in a row the mutex leaves at once. If others were kept waiting in vain it
// must be seen twice as often before they are again. They are never kept waiting for more than max_local_grants times
// linger_ns, beside the time for which the mutex is locked.
#include <algorithm>

#include "sync/lock.hpp"

namespace quire::sync {

namespace {
constexpr unsigned is_habit = 2, most_vain = 8;
}  // namespace

lock_part::habit& lock_part::habit_of(object_id id) noexcept {
  habit& h = habits_[(id.value() ^ id.value() >> 16 ^ id.value() >> 48) % habits_.size()];
  if (h.id != id) h = {.id = id};
  return h;
}

/// A thread that was woken meanwhile may have been so by the node that has had the mutex in between: to keep it would
/// keep that from coming.
void lock_part::note_lock(object_id id, std::uint64_t now_ns) noexcept {
  if (now_ns == 0) return;
  habit& h = habit_of(id);
  if (h.freed_ns == 0) return;
  h.again = now_ns - h.freed_ns < linger_ns && h.ended == shared_.calls.ended() ? h.again + 1 : 0;
  h.freed_ns = 0;
}

void lock_part::note_unlock(object_id id, std::uint64_t now_ns) noexcept {
  habit& h = habit_of(id);
  h.freed_ns = now_ns;
  h.ended = shared_.calls.ended();
}

/// A thread has come for what was kept.
void lock_part::note_use(object_id id) noexcept {
  habit& h = habit_of(id);
  if (h.vain != 0) --h.vain;
}

/// The mutex is free here, and wanted elsewhere. False if nobody here is likely to want it soon.
bool lock_part::linger(object_id id, local& l, actions& out) {
  if (!l.waiting.empty() || l.grants >= max_local_grants || shared_.lost) return false;
  const habit& h = habit_of(id);
  if (h.freed_ns == 0 || h.again < is_habit << h.vain) return false;
  l.lingers = true;
  out.add(action_kind::linger).object = id.value();
  return true;
}

void lock_part::on_linger_over(object_id id, actions& out) {
  local* const l = local_.find(id);
  if (l == nullptr || !l->lingers) return;
  habit& h = habit_of(id);
  h.again = 0;
  h.vain = std::min(h.vain + 1, most_vain);
  hand_over(id, *l, l->next, out);
}

bool lock_part::lingers(object_id id) const noexcept {
  const local* const l = local_.find(id);
  return l != nullptr && l->lingers;
}

}  // namespace quire::sync
