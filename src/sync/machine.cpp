// SPDX-License-Identifier: BSD-3-Clause
// Hands calls and messages to the parts.
#include "sync/machine.hpp"

#include <limits>

#include "base/status_number.hpp"

namespace quire::sync {
namespace {

bool is_of_groups(const call& c) noexcept {
  return c.what >= operation::reduce_f64 || (c.what == operation::barrier_wait && c.object == 0);
}
bool gives_back(operation what) noexcept { return what == operation::mutex_unlock || what == operation::rwlock_unlock; }

}  // namespace

machine::machine(node_id self, unsigned nodes, array_limits limits, const model::membership& members)
    : shared_{.self = self,
              .nodes = nodes,
              .makers = nodes,
              .members = members,
              .comes = (members.joiners >> self.value() % model::membership::most_nodes & 1) != 0},
      locks_(shared_),
      rwlocks_(shared_),
      conditions_(shared_, locks_),
      barriers_(shared_),
      events_(shared_),
      semaphores_(shared_),
      groups_(shared_, limits) {}

/// True if the call was one that creates an object.
bool machine::create(const call& c, actions& out) {
  object_id id{};
  switch (c.what) {
    case operation::mutex_create:
      id = locks_.create();
      break;
    case operation::rwlock_create:
      id = rwlocks_.create();
      break;
    case operation::condition_create:
      id = conditions_.create();
      break;
    case operation::event_create:
      id = events_.create();
      break;
    case operation::semaphore_create:
      id = semaphores_.create(c.operand);
      break;
    case operation::group_create:
      id = groups_.create(c);
      break;
    case operation::barrier_create:
      if (c.operand != 0 && c.operand <= std::numeric_limits<std::uint32_t>::max()) {
        id = barriers_.create(static_cast<std::uint32_t>(c.operand));
      }
      break;
    default:
      return false;
  }
  out.complete(c.token, id == object_id{} ? QUIRE_INVALID : QUIRE_OK).object = id.value();
  return true;
}

void machine::on_call(const call& c, actions& out) {
  if (shared_.lost && !gives_back(c.what)) {
    out.complete(c.token, QUIRE_PEER_LOST);
    return;
  }
  if (create(c, out)) return;
  if (is_of_groups(c)) return groups_.on_call(c, out);
  if (!is_possible(object_id{c.object}, object_of(c.what), shared_.makers)) {
    out.complete(c.token, QUIRE_INVALID);
    return;
  }
  switch (c.what) {
    case operation::mutex_lock:
      return locks_.on_lock(c, out);
    case operation::mutex_unlock:
      return locks_.on_unlock(c, out);
    case operation::rwlock_read_lock:
    case operation::rwlock_write_lock:
      return rwlocks_.on_lock(c, out);
    case operation::rwlock_unlock:
      return rwlocks_.on_unlock(c, out);
    case operation::condition_wait:
      return conditions_.on_wait(c, out);
    case operation::condition_notify_one:
    case operation::condition_notify_all:
      return conditions_.on_notify(c, out);
    case operation::barrier_wait:
      return barriers_.on_wait(c, out);
    default:
      (void)shared_.ask_home(c, out);
  }
}

void machine::on_message(const message& m, std::span<const std::byte> payload, actions& out) {
  const kind what = kind_of(m.kind);
  if (is_of_groups(what)) return groups_.on_message(m, payload, out);
  if (const object_id id{m.unit}; !is_possible(id, kind_of(id), shared_.makers)) return;
  switch (what) {
    case kind::request:
      return on_request(m, out);
    case kind::reply:
      return on_reply(m, out);
    case kind::queued:
      return conditions_.on_queued(m, out);
    case kind::cancel:
      return on_cancel_message(m, out);
    case kind::cancel_missed:
      // Either the answer is on its way, or the request itself has been overtaken by the cancel: then ask again.
      if (const waiting_call* const w = shared_.calls.find(ticket{m.token})) ask_to_withdraw(ticket{m.token}, *w, out);
      return;
    case kind::barrier_arrive:
      return barriers_.on_arrive(m, out);
    case kind::barrier_release:
      return barriers_.on_release(m, out);
    default:
      return locks_.on_message(m, out);
  }
}

/// Home: a call of some node's thread about an object that ought to be here.
void machine::on_request(const message& m, actions& out) {
  const object_id id{m.unit};
  if (shared_.home_of(id) != shared_.self || object_of(static_cast<operation>(m.operation)) != kind_of(id)) {
    return shared_.reply(m, QUIRE_INVALID, out);
  }
  switch (kind_of(id)) {
    case object_kind::mutex:
      return locks_.on_request(m, out);
    case object_kind::rwlock:
      return rwlocks_.on_request(m, out);
    case object_kind::condition:
      return conditions_.on_request(m, out);
    case object_kind::barrier:
      return barriers_.on_request(m, out);
    case object_kind::event:
      return events_.on_request(m, out);
    case object_kind::semaphore:
      return semaphores_.on_request(m, out);
    case object_kind::group:
    case object_kind::none:
      return shared_.reply(m, QUIRE_INVALID, out);
  }
}

void machine::on_reply(const message& m, actions& out) {
  const ticket t{m.token};
  waiting_call* const w = shared_.calls.find(t);
  if (w == nullptr || w->listed) return;
  const auto status = base::status_of(m.operation);
  switch (w->what) {
    case operation::rwlock_read_lock:
    case operation::rwlock_write_lock:
      return rwlocks_.on_reply(t, *w, status, out);
    case operation::condition_wait:
      return conditions_.on_reply(t, *w, status, out);
    default:
      shared_.calls.finish(t, status, out);
  }
}

void machine::on_cancel(std::uint64_t token, actions& out) {
  const ticket t = shared_.calls.find_token(token);
  if (const waiting_call* const w = shared_.calls.find(t)) {
    if (w->what == operation::mutex_lock) return locks_.withdraw(t, out);
    ask_to_withdraw(t, *w, out);
  }
}

/// Only the home knows whether the call still waits.
void machine::ask_to_withdraw(ticket t, const waiting_call& w, actions& out) {
  switch (w.what) {
    case operation::condition_wait:
      if (w.at == phase::reacquire) return;  // woken: it only waits for its mutex
      break;
    case operation::rwlock_read_lock:
    case operation::rwlock_write_lock:
    case operation::event_wait:
    case operation::semaphore_acquire:
      break;
    default:
      return;  // answered at once, or without a time limit
  }
  if (shared_.is_lost(w.object)) return;  // it has ended, or waits for its mutex
  message m = shared_.make(kind::cancel, w.object);
  m.token = t.value();
  shared_.send(shared_.home_of(w.object), m, out);
}

void machine::on_cancel_message(const message& m, actions& out) {
  bool withdrawn = false;
  switch (kind_of(object_id{m.unit})) {
    case object_kind::rwlock:
      withdrawn = rwlocks_.withdraw(m, out);
      break;
    case object_kind::condition:
      withdrawn = conditions_.withdraw(m);
      break;
    case object_kind::event:
      withdrawn = events_.withdraw(m);
      break;
    case object_kind::semaphore:
      withdrawn = semaphores_.withdraw(m);
      break;
    default:
      return;
  }
  if (withdrawn) return shared_.reply(m, QUIRE_TIMED_OUT, out);
  message missed = shared_.make(kind::cancel_missed, object_id{m.unit});
  missed.token = m.token;
  shared_.send(m.from, missed, out);
}

void machine::on_peer_lost(actions& out) {
  shared_.lost = true;
  locks_.forget_waiting();
  barriers_.forget_waiting();
  groups_.for_each([](collective& g) { g.forget_waiting(); });
  shared_.calls.for_each([&](ticket t, const waiting_call&) { shared_.calls.finish(t, QUIRE_PEER_LOST, out); });
}

bool machine::is_valid() const noexcept {
  return locks_.is_valid() && rwlocks_.is_valid() && barriers_.is_valid() && events_.is_valid() &&
         semaphores_.is_valid() && groups_.is_valid();
}

}  // namespace quire::sync
