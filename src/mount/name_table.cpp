// SPDX-License-Identifier: BSD-3-Clause
#include "mount/name_table.hpp"

#include <algorithm>

namespace quire::mount {

name_table::number name_table::look_up(const std::string& name, std::uint64_t identity) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = numbers_.try_emplace(identity, next_);
  entry& e = entries_[at->second];
  if (is_new) {
    ++next_;
    e.about.identity = identity;
    ::clock_gettime(CLOCK_REALTIME, &e.about.changed);
  }
  e.about.name = name;
  ++e.look_ups;
  return at->second;
}

void name_table::forget(number file, std::uint64_t look_ups) {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(file);
  if (at == entries_.end()) return;
  at->second.look_ups -= std::min(look_ups, at->second.look_ups);
  if (at->second.look_ups != 0) return;
  numbers_.erase(at->second.about.identity);
  entries_.erase(at);
}

bool name_table::find(number file, known& into) const {
  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(file);
  if (at == entries_.end()) return false;
  into = at->second.about;
  return true;
}

void name_table::changed(number file, const timespec& when) {
  const std::lock_guard lock(mutex_);
  if (const auto at = entries_.find(file); at != entries_.end()) at->second.about.changed = when;
}

void name_table::changed_now(number file) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  changed(file, now);
}

void name_table::add(number file, std::shared_ptr<opened> one) {
  const std::lock_guard lock(mutex_);
  if (const auto at = entries_.find(file); at != entries_.end()) at->second.open.push_back(std::move(one));
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
  const auto found = std::find_if(at->second.open.begin(), at->second.open.end(), [one](const auto& each) { return each.get() == one; });
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
}

}  // namespace quire::mount
