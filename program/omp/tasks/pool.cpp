// SPDX-License-Identifier: BSD-3-Clause
#include "program/omp/tasks/pool.hpp"

#include <algorithm>

namespace quire::program {
namespace {

/// Whether `t` is below `above`, as far as a short look tells.
bool is_below(const task& t, const task& above) noexcept {
  constexpr int far = 64;
  const task* up = t.parent;
  for (int i = 0; i < far && up != nullptr && up != &above; ++i) up = up->parent;
  return up == &above;
}

void follow(task& t, const task_vector& others) {
  for (task* const f : others) {
    if (f->finished) continue;
    f->successors.push_back(&t);
    ++t.missing;
  }
}

/// Of a task that names an address twice the stronger one counts.
std::vector<dependence, private_allocator<dependence>> merged(std::span<const dependence> on) {
  std::vector<dependence, private_allocator<dependence>> all(on.begin(), on.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const dependence& a, const dependence& b) { return std::less<>{}(a.address, b.address); });
  std::size_t kept = 0;
  for (const dependence& d : all) {
    if (kept == 0 || all[kept - 1].address != d.address) {
      all[kept++] = d;
    } else if (all[kept - 1].how != d.how) {
      all[kept - 1].how = dependence::kind::out;
    }
  }
  all.resize(kept);
  return all;
}

}  // namespace

void pool::add(task& t, task& parent, std::span<const dependence> on) {
  t.parent = &parent;
  ++parent.references;
  ++parent.children;
  t.in = parent.in;
  if (t.in != nullptr) ++t.in->tasks;
  ++open_;
  if (!on.empty()) depend(t, parent, on);
}

void pool::add_from_elsewhere(task& t, task& stand_in, group& its) noexcept {
  stand_in.in = &its;
  add(t, stand_in, {});
  stand_in.in = nullptr;
  queue(t);
}

void pool::let_go(group& g) noexcept {
  if (--g.tasks != 0 || g.origin == nullptr) return;
  g.next_empty = empty_;
  empty_ = &g;
}

group* pool::take_empty() noexcept {
  group* const g = empty_;
  if (g != nullptr) empty_ = g->next_empty;
  return g;
}

void pool::queue(task& t) noexcept {
  t.queued = true;
  if (t.missing == 0) enqueue(t);
}

void pool::depend(task& t, task& parent, std::span<const dependence> on) {
  if (parent.places == nullptr) parent.places = make_private<place_table>();
  place_table& places = *parent.places;
  const auto is_all = [](const dependence& d) { return d.address == nullptr; };
  if (std::any_of(on.begin(), on.end(), is_all)) return depend_on_all(t, places);
  for (const dependence& d : merged(on)) {
    const auto [at, is_new] = places.try_emplace(d.address);
    if (const auto all = is_new ? places.find(nullptr) : places.end(); all != places.end()) {
      at->second.front = all->second.front;
      for (task* const f : at->second.front) ++f->references;
    }
    depend(t, at->second, d.how);
  }
}

void pool::depend_on_all(task& t, place_table& places) {
  for (auto& [address, p] : places) {
    drop_all(p.before);
    follow(t, p.front);
    drop_all(p.front);
  }
  places.clear();
  places[nullptr].front.push_back(&t);
  ++t.references;
}

/// Tasks of the front follow all before them, and whoever comes behind the front follows all of it.
void pool::depend(task& t, place& p, dependence::kind how) {
  const bool joins = !p.front.empty() && p.how == how && how != dependence::kind::out;
  if (!joins) {
    drop_all(p.before);
    p.before.swap(p.front);
    p.how = how;
  } else if (p.front.size() == p.front.capacity()) {  // those that have finished need not be kept
    const auto end = std::stable_partition(p.front.begin(), p.front.end(), [](const task* f) { return !f->finished; });
    task_vector gone(end, p.front.end());
    p.front.erase(end, p.front.end());
    drop_all(gone);
  }
  follow(t, p.before);
  p.front.push_back(&t);
  ++t.references;
}

void pool::enqueue(task& t) noexcept {
  queue_.add(t);
  t.parent->ready_children.add(t);
  if (t.in != nullptr) t.in->ready.add(t);
  ++ready_;
}

task* pool::take(task* t) noexcept {
  if (t == nullptr) return nullptr;
  queue_.remove(*t);
  t->parent->ready_children.remove(*t);
  if (t->in != nullptr) t->in->ready.remove(*t);
  --ready_;
  return t;
}

/// The newest, whose data is at hand; but one with an open event, if it is the oldest. That runs on no other node, it
/// begins what others wait for, and these may be running already, and wait without an end.
template <class List>
static task* next_of(const List& ready) noexcept {
  task* const oldest = ready.oldest();
  return oldest != nullptr && oldest->event_open ? oldest : ready.newest();
}

task* pool::take_any() noexcept { return take(next_of(queue_)); }
task* pool::take_away() noexcept {
  task* t = queue_.oldest();
  while (t != nullptr && t->event_open) t = t->in_queue.after;  // its event is known here
  return take(t);
}

task* pool::take_below(task& waiting) noexcept {
  if (!waiting.ready_children.empty()) return take(next_of(waiting.ready_children));
  constexpr int look_at = 32;
  task* t = queue_.newest();
  for (int i = 0; i < look_at && t != nullptr; ++i, t = t->in_queue.before) {
    if (is_below(*t, waiting)) return take(t);
  }
  return nullptr;
}

task* pool::take_of(group& g, task& waiting) noexcept {
  return !g.ready.empty() ? take(next_of(g.ready)) : take_below(waiting);
}

void pool::end_body(task& t) noexcept {
  t.body_done = true;
  if (t.event_open) return;
  finish(t);
  leave(t);
}

void pool::fulfil(task& t) noexcept {
  t.event_open = false;
  if (!t.body_done) return;
  finish(t);
  leave(t);
}

void pool::ended_elsewhere(task& t) noexcept {
  t.body_done = true;
  finish(t);
}
void pool::left_elsewhere(task& t) noexcept {
  if (!t.finished) ended_elsewhere(t);
  leave(t);
}

void pool::finish(task& t) noexcept {
  t.finished = true;
  for (task* const s : t.successors) {
    if (--s->missing == 0 && s->queued) enqueue(*s);
  }
  t.successors.clear();
  if (--t.parent->children == 0) forget_places(*t.parent);
}

void pool::leave(task& t) noexcept {
  if (t.in != nullptr) let_go(*t.in);
  --open_;
  drop(t);
}

/// Not by recursion: chains of tasks are as long as their makers like.
void pool::drop(task& t) noexcept {
  for (task* now = &t; now != nullptr && --now->references == 0;) {
    task* const up = now->parent;
    forget_places(*now);
    dispose_(*now);
    now = up;
  }
}

void pool::drop_all(task_vector& tasks) noexcept {
  for (task* const t : tasks) drop(*t);
  tasks.clear();
}

void pool::forget_places(task& parent) noexcept {
  place_table* const places = parent.places;
  if (places == nullptr) return;
  parent.places = nullptr;
  for (auto& [address, p] : *places) {
    drop_all(p.before);
    drop_all(p.front);
  }
  destroy_private(places);
}

}  // namespace quire::program
