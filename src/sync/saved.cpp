// SPDX-License-Identifier: BSD-3-Clause
// See saved.hpp. Objects keep their handles; their homes follow from the number of nodes (home_of).
#include "sync/saved.hpp"

#include <algorithm>
#include <limits>

#include "sync/machine.hpp"

namespace quire::sync {

void lock_home::save(std::vector<saved_object>& to) const {
  for (const auto& [id, e] : homes_) {
    if (!e.dying) to.push_back({id.value(), 0});
  }
}
void lock_part::load(object_id id) {
  home_.make(id);
  local_.make(id).has_token = true;
}

void rwlock_part::save(std::vector<saved_object>& to) const {
  for (const auto& [id, e] : home_) to.push_back({id.value(), 0});
}
void rwlock_part::load(object_id id) { home_.make(id); }

void condition_part::save(std::vector<saved_object>& to) const {
  for (const auto& [id, e] : home_) to.push_back({id.value(), 0});
}
void condition_part::load(object_id id) { home_.make(id); }

void barrier_part::save(std::vector<saved_object>& to) const {
  for (const auto& [id, e] : home_) to.push_back({id.value(), e.participants});
}
void barrier_part::load(object_id id, std::uint64_t participants) {
  entry& e = home_.make(id);
  e.participants = static_cast<std::uint32_t>(participants);
  e.by_node.resize(shared_.nodes);
  e.before.resize(shared_.nodes);
}

void event_part::save(std::vector<saved_object>& to) const {
  for (const auto& [id, e] : home_) to.push_back({id.value(), e.set ? 1u : 0u});
}
void event_part::load(object_id id, std::uint64_t set) { home_.make(id).set = set != 0; }

void semaphore_part::save(std::vector<saved_object>& to) const {
  for (const auto& [id, e] : home_) to.push_back({id.value(), e.count});
}
void semaphore_part::load(object_id id, std::uint64_t count) { home_.make(id).count = count; }

saved_objects machine::save() const {
  saved_objects all;
  all.made = shared_.made;
  all.makers = shared_.makers;
  locks_.save(all.objects);
  rwlocks_.save(all.objects);
  conditions_.save(all.objects);
  barriers_.save(all.objects);
  events_.save(all.objects);
  semaphores_.save(all.objects);
  std::sort(all.objects.begin(), all.objects.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return all;
}

bool machine::load(std::span<const saved_objects> all) {
  if (is_used()) return false;
  std::uint64_t made = 0, makers = shared_.nodes;
  for (const saved_objects& of_node : all) {
    made = std::max(made, of_node.made);
    makers = std::max(makers, of_node.makers);
  }
  if (makers > model::max_nodes || made > counter_mask) return false;
  std::vector<saved_object> mine;
  for (const saved_objects& of_node : all) {
    for (const saved_object& o : of_node.objects) {
      const object_id id{o.id};
      const bool good = is_possible(id, kind_of(id), static_cast<unsigned>(makers)) &&
                        kind_of(id) <= object_kind::semaphore && counter_of(id) <= made &&
                        (kind_of(id) != object_kind::barrier ||
                         (o.value != 0 && o.value <= std::numeric_limits<std::uint32_t>::max()));
      if (!good) return false;
      if (shared_.home_of(id) == shared_.self) mine.push_back(o);
    }
  }
  std::sort(mine.begin(), mine.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  const auto same = [](const auto& a, const auto& b) { return a.id == b.id; };
  if (std::adjacent_find(mine.begin(), mine.end(), same) != mine.end()) return false;
  // No number is used twice, whoever made the objects.
  shared_.made = made;
  shared_.makers = static_cast<unsigned>(makers);
  for (const saved_object& o : mine) {
    const object_id id{o.id};
    switch (kind_of(id)) {
      case object_kind::mutex:
        locks_.load(id);
        break;
      case object_kind::rwlock:
        rwlocks_.load(id);
        break;
      case object_kind::condition:
        conditions_.load(id);
        break;
      case object_kind::barrier:
        barriers_.load(id, o.value);
        break;
      case object_kind::event:
        events_.load(id, o.value);
        break;
      case object_kind::semaphore:
        semaphores_.load(id, o.value);
        break;
      case object_kind::group:
      case object_kind::none:
        break;
    }
  }
  return true;
}

}  // namespace quire::sync
