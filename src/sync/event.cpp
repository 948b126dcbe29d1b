// SPDX-License-Identifier: BSD-3-Clause
#include "sync/event.hpp"

namespace quire::sync {

object_id event_part::create() {
  const object_id id = shared_.next_id(object_kind::event);
  home_.make(id);
  return id;
}

void event_part::on_request(const message& m, actions& out) {
  const object_id id{m.unit};
  entry* const e = home_.find(id);
  if (e == nullptr) return shared_.reply(m, QUIRE_NOT_FOUND, out);
  switch (static_cast<operation>(m.operation)) {
    case operation::event_set:
      e->set = true;
      shared_.reply_all(e->queue, id, QUIRE_OK, out);
      return shared_.reply(m, QUIRE_OK, out);
    case operation::event_reset:
      e->set = false;
      return shared_.reply(m, QUIRE_OK, out);
    case operation::event_wait:
      if (e->set) return shared_.reply(m, QUIRE_OK, out);
      if (m.b != 0) return shared_.reply(m, QUIRE_BUSY, out);
      return shared_.waiters.push(e->queue, waiter_of(m));
    case operation::event_destroy:
      shared_.reply_all(e->queue, id, QUIRE_NOT_FOUND, out);
      home_.drop(id);
      return shared_.reply(m, QUIRE_OK, out);
    default:
      return shared_.reply(m, QUIRE_INVALID, out);
  }
}

void event_part::cut() noexcept {
  for (auto& [id, e] : home_) shared_.waiters.remove_dead(e.queue, shared_.members);
}

bool event_part::withdraw(const message& m) {
  entry* const e = home_.find(object_id{m.unit});
  return e != nullptr && shared_.waiters.remove(e->queue, m.from, ticket{m.token});
}

bool event_part::is_valid() const noexcept {
  for (const auto& [id, e] : home_) {
    if (e.set && !e.queue.empty()) return false;
  }
  return true;
}

}  // namespace quire::sync
