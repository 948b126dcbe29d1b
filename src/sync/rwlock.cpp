// SPDX-License-Identifier: BSD-3-Clause
#include "sync/rwlock.hpp"

#include <algorithm>

namespace quire::sync {

object_id rwlock_part::create() {
  const object_id id = shared_.next_id(object_kind::rwlock);
  home_.make(id);
  return id;
}

std::size_t rwlock_part::find(object_id id, std::uint32_t thread) const noexcept {
  std::size_t i = 0;
  while (i < held_.size() && (held_[i].id != id || held_[i].thread != thread)) ++i;
  return i;
}

void rwlock_part::on_lock(const call& c, actions& out) {
  if (find(object_id{c.object}, c.thread) == held_.size()) {
    (void)shared_.ask_home(c, out);
  } else {
    // A writer that queues between two read locks of one thread would wait for it, and it for the writer.
    out.complete(c.token, c.try_only ? QUIRE_BUSY : QUIRE_INVALID);
  }
}

void rwlock_part::on_reply(ticket t, const waiting_call& w, quire_status status, actions& out) {
  if (status == QUIRE_OK || status == QUIRE_OWNER_DIED)
    held_.push_back({w.object, w.thread, w.what == operation::rwlock_write_lock});
  shared_.calls.finish(t, status, out);
}

/// One message, and nobody waits for it.
void rwlock_part::on_unlock(const call& c, actions& out) {
  const object_id id{c.object};
  const std::size_t at = find(id, c.thread);
  if (at == held_.size()) {
    (void)shared_.ask_home(c, out);  // the caller's mistake; the home knows which
    return;
  }
  message m = shared_.make(kind::request, id);
  m.operation = static_cast<std::uint32_t>(operation::rwlock_unlock);
  m.a = held_[at].writing ? 1 : 0;
  held_[at] = held_.back();
  held_.pop_back();
  if (!shared_.is_lost(id)) shared_.send(shared_.home_of(id), m, out);
  out.complete(c.token, QUIRE_OK);
}

void rwlock_part::on_request(const message& m, actions& out) {
  const object_id id{m.unit};
  entry* const e = home_.find(id);
  if (e == nullptr) return shared_.reply(m, QUIRE_NOT_FOUND, out);
  switch (static_cast<operation>(m.operation)) {
    case operation::rwlock_read_lock:
      return on_lock_request(m, *e, false, out);
    case operation::rwlock_write_lock:
      return on_lock_request(m, *e, true, out);
    case operation::rwlock_unlock:
      return on_release(m, *e, out);
    case operation::rwlock_destroy:
      shared_.reply_all(e->queue, id, QUIRE_NOT_FOUND, out);
      home_.drop(id);
      return shared_.reply(m, QUIRE_OK, out);
    default:
      return shared_.reply(m, QUIRE_INVALID, out);
  }
}

void rwlock_part::on_lock_request(const message& m, entry& e, bool writing, actions& out) {
  const bool now = e.queue.empty() && !e.writing && (!writing || e.readers == 0);
  if (!now && m.b != 0) return shared_.reply(m, QUIRE_BUSY, out);
  shared_.waiters.push(e.queue, waiter_of(m, writing));
  if (now) serve(object_id{m.unit}, e, out);
}

void rwlock_part::on_release(const message& m, entry& e, actions& out) {
  if (m.token != 0) return shared_.reply(m, QUIRE_NOT_OWNER, out);
  if (m.a != 0) {
    e.writing = false;
  } else if (e.readers > 0) {
    --e.readers;
    if (const auto one = std::find(e.reading.begin(), e.reading.end(), m.from); one != e.reading.end())
      e.reading.erase(one);
  }
  serve(object_id{m.unit}, e, out);
}

/// Lets in from the front of the queue whoever may go in.
void rwlock_part::serve(object_id id, entry& e, actions& out) {
  while (!e.queue.empty() && !e.writing && (e.readers == 0 || !shared_.waiters.front(e.queue).exclusive)) {
    const waiter w = shared_.waiters.pop(e.queue);
    if (w.exclusive) {
      e.writing = true;
      e.writer = w.node;
    } else {
      ++e.readers;
      e.reading.push_back(w.node);
    }
    // Readers cannot mend what a writer has left half done: all are told, until the next writer is.
    shared_.reply(w.node, w.who, id, e.orphaned ? QUIRE_OWNER_DIED : QUIRE_OK, out);
    if (w.exclusive) e.orphaned = false;
  }
}

bool rwlock_part::withdraw(const message& m, actions& out) {
  entry* const e = home_.find(object_id{m.unit});
  if (e == nullptr || !shared_.waiters.remove(e->queue, m.from, ticket{m.token})) return false;
  serve(object_id{m.unit}, *e, out);  // readers behind a writer that gave up
  return true;
}

/// Of who has left, unlocks may be on their way until all go on.
void rwlock_part::cut(actions& out) {
  const auto is_gone = [&](node_id n) {
    return shared_.members.is_dead(n) && !(shared_.recovering && shared_.members.has_left(n));
  };
  for (auto& [id, e] : home_) {
    shared_.waiters.remove_dead(e.queue, shared_.members);
    if (e.writing && is_gone(e.writer)) {
      e.writing = false;
      e.orphaned = true;
    }
    e.readers -= static_cast<std::uint32_t>(std::erase_if(e.reading, is_gone));
    serve(id, e, out);
  }
}

bool rwlock_part::is_valid() const noexcept {
  for (const auto& [id, e] : home_) {
    if (e.writing && e.readers != 0) return false;
    if (!e.queue.empty() && !e.writing && e.readers == 0) return false;
  }
  return true;
}

}  // namespace quire::sync
