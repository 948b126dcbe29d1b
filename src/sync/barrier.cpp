// SPDX-License-Identifier: BSD-3-Clause
#include "sync/barrier.hpp"

#include <algorithm>

#include "base/fault_heap.hpp"
#include "base/status_number.hpp"

namespace quire::sync {

object_id barrier_part::create(std::uint32_t participants) {
  const object_id id = shared_.next_id(object_kind::barrier);
  entry& e = home_.make(id);
  e.participants = participants;
  e.by_node.resize(shared_.nodes);
  e.before.resize(shared_.nodes);
  e.strangers = shared_.members.dead;
  return id;
}

void barrier_part::on_wait(const call& c, actions& out) {
  const object_id id{c.object};
  if (shared_.is_lost(id)) {
    out.complete(c.token, QUIRE_LOST);
    return;
  }
  call_list* list = waiting_.find(id);
  if (list == nullptr) list = &waiting_.make(id);
  shared_.calls.push(*list, shared_.calls.add(c));
  shared_.send(shared_.home_of(id), kind::barrier_arrive, id, out);
}

void barrier_part::on_release(const message& m, actions& out) {
  const object_id id{m.unit};
  call_list* const list = waiting_.find(id);
  if (list == nullptr) return;
  for (std::uint64_t i = 0; i < m.a && !list->empty(); ++i) {
    shared_.calls.finish(shared_.calls.pop(*list), base::status_of(m.operation), out);
  }
  if (list->empty()) waiting_.drop(id);
}

void barrier_part::forget_waiting() noexcept {
  for (auto& [id, list] : waiting_) {
    while (!list.empty()) (void)shared_.calls.pop(list);
  }
}

void barrier_part::on_arrive(const message& m, actions& out) {
  const object_id id{m.unit};
  entry* const e = home_.find(id);
  if (e == nullptr || e->broken) return release(m.from, id, 1, e == nullptr ? QUIRE_NOT_FOUND : QUIRE_LOST, out);
  if (e->by_node[m.from.value()]++ == 0) e->nodes.push_back(m.from);
  if (++e->arrived == e->participants) release_all(id, *e, QUIRE_OK, out);
}

void barrier_part::release(node_id to, object_id id, std::uint64_t threads, quire_status status, actions& out) const {
  message m = shared_.make(kind::barrier_release, id);
  m.operation = static_cast<std::uint32_t>(status);
  m.a = threads;
  shared_.send(to, m, out);
}

/// Ends the round: one message to each node that has threads here.
void barrier_part::release_all(object_id id, entry& e, quire_status status, actions& out) {
  if (status == QUIRE_OK) {
    e.before = e.by_node;
    e.met = true;
  }
  for (const node_id node : e.nodes) {
    std::uint32_t& threads = e.by_node[node.value()];
    release(node, id, threads, status, out);
    threads = 0;
  }
  e.nodes.clear();
  e.arrived = 0;
}

void barrier_part::on_request(const message& m, actions& out) {
  const object_id id{m.unit};
  entry* const e = home_.find(id);
  if (e == nullptr) return shared_.reply(m, QUIRE_NOT_FOUND, out);
  if (m.operation != static_cast<std::uint32_t>(operation::barrier_destroy))
    return shared_.reply(m, QUIRE_INVALID, out);
  release_all(id, *e, QUIRE_NOT_FOUND, out);
  home_.drop(id);
  shared_.reply(m, QUIRE_OK, out);
}

/// As many threads as the dead node had in the last round, or has in this one, come no more. Before the first round
/// nobody knows how many there would have been; of a node that joined after the barrier was made, none.
void barrier_part::shrink(entry& e, node_id dead) {
  std::uint32_t& here = e.by_node[dead.value()];
  std::uint32_t& before = e.before[dead.value()];
  const std::uint32_t gone = std::max(here, before);
  e.arrived -= here;
  here = before = 0;
  std::erase(e.nodes, dead);
  const bool stranger = gone == 0 && (e.strangers >> dead.value() & 1) != 0;
  if ((!e.met && !stranger) || gone >= e.participants) e.broken = true;
  if (!e.broken) e.participants -= gone;
}

void barrier_part::cut(model::membership now_dead, actions& out) {
  base::fault_vector<object_id> lost;
  for (auto& [id, list] : waiting_) {
    if (!shared_.is_lost(id)) continue;
    while (!list.empty()) shared_.calls.finish(shared_.calls.pop(list), QUIRE_LOST, out);
    lost.push_back(id);
  }
  for (const object_id id : lost) waiting_.drop(id);
  for (auto& [id, e] : home_) {
    for (std::uint16_t n = 0; n < shared_.nodes && !e.broken; ++n) {
      if (now_dead.is_dead(node_id{n})) shrink(e, node_id{n});
    }
    if (e.broken) {
      release_all(id, e, QUIRE_LOST, out);
    } else if (e.arrived != 0 && e.arrived >= e.participants) {
      release_all(id, e, QUIRE_OK, out);
    }
  }
}

bool barrier_part::is_valid() const noexcept {
  for (const auto& [id, e] : home_) {
    if (e.broken) continue;
    std::uint64_t sum = 0;
    for (const std::uint32_t n : e.by_node) sum += n;
    if (sum != e.arrived || e.arrived >= e.participants) return false;
  }
  return true;
}

}  // namespace quire::sync
