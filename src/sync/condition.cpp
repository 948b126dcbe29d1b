// SPDX-License-Identifier: BSD-3-Clause
#include "sync/condition.hpp"

namespace quire::sync {

object_id condition_part::create() {
  const object_id id = shared_.next_id(object_kind::condition);
  home_.make(id);
  return id;
}

void condition_part::on_wait(const call& c, actions& out) {
  const object_id mutex{c.operand};
  if (!is_possible(mutex, object_kind::mutex, shared_.makers)) {
    out.complete(c.token, QUIRE_INVALID);
  } else if (!locks_.is_owner(mutex, c.thread)) {
    out.complete(c.token, QUIRE_NOT_OWNER);
  } else {
    (void)shared_.ask_home(c, out);
  }
}

/// Nobody waits for the answer of another node, which would keep the caller from its next lock for a round trip:
/// whoever is to be woken is in the home's queue since before the caller took the mutex.
void condition_part::on_notify(const call& c, actions& out) {
  const object_id id{c.object};
  const node_id home = shared_.home_of(id);
  if (shared_.is_lost(id) || (home == shared_.self && home_.find(id) == nullptr)) {
    out.complete(c.token, shared_.is_lost(id) ? QUIRE_LOST : QUIRE_NOT_FOUND);
    return;
  }
  message m = shared_.make(kind::request, id);
  m.operation = static_cast<std::uint32_t>(c.what);
  if (home == shared_.self) {
    on_request(m, out);
  } else {
    shared_.send(home, m, out);
  }
  out.complete(c.token, QUIRE_OK);
}

void condition_part::on_queued(const message& m, actions& out) {
  waiting_call* const w = shared_.calls.find(ticket{m.token});
  // The answer may have come before: then the wait is over, and the mutex was never released.
  if (w == nullptr || w->what != operation::condition_wait) return;
  w->at = phase::released;
  locks_.release(w->mutex, w->thread, 0, out);
}

void condition_part::on_reply(ticket t, waiting_call& w, quire_status status, actions& out) {
  if (w.at == phase::reacquire) return;
  if (w.at == phase::asked) {  // the mutex was never released
    shared_.calls.finish(t, status, out);
    return;
  }
  w.at = phase::reacquire;
  w.result = status;
  locks_.acquire(w.mutex, t, out);
}

void condition_part::on_request(const message& m, actions& out) {
  const object_id id{m.unit};
  entry* const e = home_.find(id);
  if (e == nullptr) return shared_.reply(m, QUIRE_NOT_FOUND, out);
  switch (static_cast<operation>(m.operation)) {
    case operation::condition_wait: {
      if (m.b != 0) return shared_.reply(m, QUIRE_BUSY, out);
      shared_.waiters.push(e->queue, waiter_of(m));
      message queued = shared_.make(kind::queued, id);
      queued.token = m.token;
      return shared_.send(m.from, queued, out);
    }
    case operation::condition_notify_one:
      if (!e->queue.empty()) {
        const waiter w = shared_.waiters.pop(e->queue);
        shared_.reply(w.node, w.who, id, QUIRE_OK, out);
      }
      return shared_.reply(m, QUIRE_OK, out);
    case operation::condition_notify_all:
      shared_.reply_all(e->queue, id, QUIRE_OK, out);
      return shared_.reply(m, QUIRE_OK, out);
    case operation::condition_destroy:
      shared_.reply_all(e->queue, id, QUIRE_NOT_FOUND, out);
      home_.drop(id);
      return shared_.reply(m, QUIRE_OK, out);
    default:
      return shared_.reply(m, QUIRE_INVALID, out);
  }
}

void condition_part::cut() noexcept {
  for (auto& [id, e] : home_) shared_.waiters.remove_dead(e.queue, shared_.members);
}

bool condition_part::withdraw(const message& m) {
  entry* const e = home_.find(object_id{m.unit});
  return e != nullptr && shared_.waiters.remove(e->queue, m.from, ticket{m.token});
}

}  // namespace quire::sync
