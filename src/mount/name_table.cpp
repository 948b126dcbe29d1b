// SPDX-License-Identifier: BSD-3-Clause
#include "mount/name_table.hpp"

#include <algorithm>

namespace quire::mount {
namespace {

timespec now() {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return t;
}

}  // namespace

const name_table::entry* name_table::known_to_kernel(number file) const {
  const auto at = entries_.find(file);
  return at == entries_.end() || at->second.look_ups == 0 ? nullptr : &at->second;
}

void name_table::take(entry& e, const file_facts& facts) {
  if (facts.bytes != e.about.facts.bytes && !e.own_change) e.about.changed = now();
  e.own_change = false;
  e.about.facts = facts;
}

void name_table::know(number file, unsigned mode) {
  const std::lock_guard lock(mutex_);
  entry& e = entries_[file];
  e.look_ups = UINT64_MAX;
  e.about.mode = mode;
  e.about.changed = now();
}

name_table::number name_table::look_up(const std::string& name, const file_facts& facts, unsigned mode) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = numbers_.try_emplace(facts.identity, next_);
  entry& e = entries_[at->second];
  if (is_new) {
    ++next_;
    e.about.facts = facts;
    e.about.changed = now();
    e.about.mode = mode;
  } else {
    take(e, facts);
    if (e.look_ups == 0) forgotten_.erase(e.place);
  }
  e.about.name = name;
  ++e.look_ups;
  return at->second;
}

void name_table::forget(number file, std::uint64_t look_ups) {
  const std::lock_guard lock(mutex_);
  entry* const e = known_to_kernel(file);
  if (e == nullptr) return;
  e->look_ups -= std::min(look_ups, e->look_ups);
  if (e->look_ups != 0) return;
  e->place = forgotten_.insert(forgotten_.begin(), file);
  if (forgotten_.size() <= most_forgotten) return;
  const auto oldest = entries_.find(forgotten_.back());
  forgotten_.pop_back();
  numbers_.erase(oldest->second.about.facts.identity);
  entries_.erase(oldest);
}

bool name_table::find(number file, known& into) const {
  const std::lock_guard lock(mutex_);
  const entry* const e = known_to_kernel(file);
  if (e == nullptr) return false;
  into = e->about;
  return true;
}

void name_table::saw(number file, const file_facts& facts) {
  const std::lock_guard lock(mutex_);
  if (entry* const e = known_to_kernel(file)) take(*e, facts);
}

void name_table::set_mode(number file, unsigned mode) {
  const std::lock_guard lock(mutex_);
  if (entry* const e = known_to_kernel(file)) e->about.mode = mode;
}

void name_table::changed(number file, const timespec& when) {
  const std::lock_guard lock(mutex_);
  if (entry* const e = known_to_kernel(file)) e->about.changed = when;
}

void name_table::changed_now(number file) {
  const std::lock_guard lock(mutex_);
  entry* const e = known_to_kernel(file);
  if (e == nullptr) return;
  e->about.changed = now();
  e->own_change = true;
}

void name_table::add(number file, std::shared_ptr<opened> one) {
  const std::lock_guard lock(mutex_);
  if (entry* const e = known_to_kernel(file)) e->open.push_back(std::move(one));
}

void name_table::remove(number file, const opened* one) {
  std::shared_ptr<opened> last;  // closed when nobody holds the mutex
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(file);
  if (at == entries_.end()) return;
  auto& open = at->second.open;
  const auto found = std::find_if(open.begin(), open.end(), [one](const auto& each) { return each.get() == one; });
  if (found == open.end()) return;
  last = std::move(*found);
  open.erase(found);
}

std::shared_ptr<opened> name_table::find_open(number file, const opened* one) const {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(file);
  if (at == entries_.end()) return nullptr;
  const auto found = std::find_if(at->second.open.begin(), at->second.open.end(),
                                  [one](const auto& each) { return each.get() == one; });
  return found != at->second.open.end() ? *found : nullptr;
}

std::shared_ptr<opened> name_table::any_open(number file) const {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(file);
  return at == entries_.end() || at->second.open.empty() ? nullptr : at->second.open.front();
}

void name_table::clear() {
  std::unordered_map<number, entry> all;  // as in remove()
  const std::lock_guard lock(mutex_);
  all.swap(entries_);
  numbers_.clear();
  forgotten_.clear();
}

}  // namespace quire::mount
