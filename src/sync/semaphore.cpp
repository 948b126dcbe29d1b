// SPDX-License-Identifier: BSD-3-Clause
#include "sync/semaphore.hpp"

#include <limits>

namespace quire::sync {

object_id semaphore_part::create(std::uint64_t initial) {
  const object_id id = shared_.next_id(object_kind::semaphore);
  home_.make(id).count = initial;
  return id;
}

void semaphore_part::on_request(const message& m, actions& out) {
  const object_id id{m.unit};
  entry* const e = home_.find(id);
  if (e == nullptr) return shared_.reply(m, QUIRE_NOT_FOUND, out);
  switch (static_cast<operation>(m.operation)) {
    case operation::semaphore_acquire:
      return on_acquire(m, *e, out);
    case operation::semaphore_release:
      return on_release(m, *e, out);
    case operation::semaphore_destroy:
      shared_.reply_all(e->queue, id, QUIRE_NOT_FOUND, out);
      home_.drop(id);
      return shared_.reply(m, QUIRE_OK, out);
    default:
      return shared_.reply(m, QUIRE_INVALID, out);
  }
}

void semaphore_part::on_acquire(const message& m, entry& e, actions& out) {
  if (e.count > 0) {
    --e.count;
    return shared_.reply(m, QUIRE_OK, out);
  }
  if (m.b != 0) return shared_.reply(m, QUIRE_BUSY, out);
  shared_.waiters.push(e.queue, waiter_of(m));
}

void semaphore_part::on_release(const message& m, entry& e, actions& out) {
  if (m.a > std::numeric_limits<std::uint64_t>::max() - e.count) return shared_.reply(m, QUIRE_INVALID, out);
  e.count += m.a;
  for (; e.count > 0 && !e.queue.empty(); --e.count) {
    const waiter w = shared_.waiters.pop(e.queue);
    shared_.reply(w.node, w.who, object_id{m.unit}, QUIRE_OK, out);
  }
  shared_.reply(m, QUIRE_OK, out);
}

void semaphore_part::cut() noexcept {
  for (auto& [id, e] : home_) shared_.waiters.remove_dead(e.queue, shared_.members);
}

bool semaphore_part::withdraw(const message& m) {
  entry* const e = home_.find(object_id{m.unit});
  return e != nullptr && shared_.waiters.remove(e->queue, m.from, ticket{m.token});
}

bool semaphore_part::is_valid() const noexcept {
  for (const auto& [id, e] : home_) {
    if (e.count != 0 && !e.queue.empty()) return false;
  }
  return true;
}

}  // namespace quire::sync
