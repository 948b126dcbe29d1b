// SPDX-License-Identifier: BSD-3-Clause
#include "container/name_table.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace quire::container {

name_table::key name_table::key_of(std::string_view name) noexcept {
  key made{};
  name.copy(made.data(), longest_name);
  return made;
}

name_table::entry& name_table::at(std::uint16_t number) noexcept {
  CHECK(number != 0 && number <= entries_.size());
  return entries_[number - 1u];
}

name_table::answer name_table::open(std::string_view name, bool create, bool exclusive, bool alone, unsigned node) {
  const key k = key_of(name);
  if (const auto found = names_.find(k); found != names_.end()) {
    entry& e = at(found->second);
    if (e.is != state::there || e.unsettled) return {outcome::wait, 0};
    if (create && exclusive) return {outcome::exists, 0};
    ++e.open;
    ++openers_[opener(found->second, node)];
    return {outcome::found, found->second};
  }
  if (!create) return {outcome::none, 0};
  if (alone && making_ != 0) return {outcome::wait, 0};
  std::uint16_t number = 0;
  if (!free_.empty()) {
    number = free_.back();
    free_.pop_back();
  } else {
    if (entries_.size() == most_containers) return {outcome::full, 0};
    entries_.emplace_back();
    number = last();
  }
  entry& e = at(number);
  e.is = state::making;
  e.named = true;
  e.name = k;
  e.open = 0;
  e.by = node;
  names_.emplace(k, number);
  ++making_;
  return {outcome::make, number};
}

void name_table::made(std::uint16_t number) noexcept {
  entry& e = at(number);
  CHECK(e.is == state::making);
  --making_;
  e.is = state::there;
  e.open = 1;
  ++openers_[opener(number, e.by)];
}

bool name_table::closed(std::uint16_t number, unsigned node) noexcept {
  entry& e = at(number);
  const auto found = openers_.find(opener(number, node));
  CHECK(e.is == state::there && e.open != 0 && found != openers_.end());
  --e.open;
  if (--found->second == 0) openers_.erase(found);
  if (!goes(e)) return false;
  e.is = state::going;
  e.by = node;
  return true;
}

bool name_table::goes_when_closed(std::uint16_t number) noexcept {
  const entry& e = at(number);
  return !e.named && !e.unsettled && e.open == 1;
}

name_table::answer name_table::look_up(std::string_view name) const noexcept {
  const auto found = names_.find(key_of(name));
  if (found == names_.end() || entries_[found->second - 1u].is != state::there) return {outcome::none, 0};
  return {outcome::found, found->second};
}

/// The opening is the caller's.
void name_table::take_name(std::uint16_t number, unsigned node) {
  entry& e = at(number);
  names_.erase(e.name);
  e.named = false;
  e.unsettled = true;
  e.by = node;
  ++e.open;
  ++openers_[opener(number, node)];
}

name_table::answer name_table::unlink(std::string_view name, unsigned node) {
  const auto found = names_.find(key_of(name));
  if (found == names_.end()) return {outcome::none, 0};
  const std::uint16_t number = found->second;
  if (const entry& e = at(number); e.is != state::there || e.unsettled) return {outcome::wait, 0};
  take_name(number, node);
  return {outcome::found, number};
}

name_table::answer name_table::rename(std::string_view from, std::string_view to, bool exclusive, unsigned node) {
  const auto found = names_.find(key_of(from));
  if (found == names_.end()) return {outcome::none, 0};
  const std::uint16_t number = found->second;
  if (const entry& e = at(number); e.is != state::there || e.unsettled) return {outcome::wait, 0};
  std::uint16_t replaced = 0;
  if (const auto old = names_.find(key_of(to)); old != names_.end()) {
    if (exclusive) return {outcome::exists, 0};
    if (old->second == number) return {outcome::found, 0};
    if (const entry& e = at(old->second); e.is != state::there || e.unsettled) return {outcome::wait, 0};
    replaced = old->second;
    take_name(replaced, node);
  }
  entry& e = at(number);
  names_.erase(e.name);
  e.name = key_of(to);
  e.unsettled = true;
  e.by = node;
  names_.emplace(e.name, number);
  return {outcome::found, number, replaced};
}

bool name_table::settled(std::uint16_t number, unsigned node) noexcept {
  entry& e = at(number);
  CHECK(e.is == state::there && e.unsettled);
  e.unsettled = false;
  return !e.named && closed(number, node);
}

name_table::answer name_table::take_away(std::string_view name, unsigned node) noexcept {
  const auto found = names_.find(key_of(name));
  if (found == names_.end()) return {outcome::none, 0};
  entry& e = at(found->second);
  if (e.is != state::there || e.unsettled) return {outcome::wait, 0};
  if (e.open != 0) return {outcome::busy, 0};
  e.is = state::going;
  e.by = node;
  return {outcome::found, found->second};
}

void name_table::lost(unsigned node) noexcept {
  for (entry& e : entries_) {
    const bool changes = e.is == state::making || e.is == state::going;
    if (e.is == state::there && e.by == node) e.unsettled = false;
    if (!changes || e.by != node) continue;
    if (e.is == state::making) --making_;
    if (e.named) names_.erase(e.name);
    e = {};
    e.is = state::lost;
  }
  std::erase_if(openers_, [&](const auto& o) {
    if ((o.first & 0xffff) != node) return false;
    at(static_cast<std::uint16_t>(o.first >> 16)).open -= o.second;
    return true;
  });
}

void name_table::note(std::string_view name, std::uint16_t number) {
  while (entries_.size() < number) entries_.emplace_back();
  entry& e = at(number);
  unnote(number);
  e.is = state::there;
  e.named = true;
  e.name = key_of(name);
  names_[e.name] = number;
}

void name_table::unnote(std::uint16_t number) noexcept {
  if (number > entries_.size() || at(number).is != state::there) return;
  const auto found = names_.find(at(number).name);
  if (found != names_.end() && found->second == number) names_.erase(found);
  at(number) = {};
}

void name_table::stays(std::uint16_t number) noexcept {
  entry& e = at(number);
  CHECK(e.is == state::going);
  e.is = state::there;
}

void name_table::load(std::string_view name, std::uint16_t number) {
  CHECK(number > entries_.size());
  while (entries_.size() + 1u < number) {
    entries_.emplace_back();
    free_.push_back(last());
  }
  entry& e = entries_.emplace_back();
  e.is = state::there;
  if (name.empty()) {
    e.open = 1;
    ++openers_[opener(number, 0)];
    return;
  }
  e.named = true;
  e.name = key_of(name);
  names_.emplace(e.name, number);
}

bool name_table::is_changing() const noexcept {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const entry& e) { return e.is == state::making || e.is == state::going || e.unsettled; });
}

bool name_table::is_making(std::uint16_t number, unsigned node) const noexcept {
  return is(number, state::making) && entries_[number - 1u].by == node;
}

bool name_table::is_going(std::uint16_t number, unsigned node) const noexcept {
  return is(number, state::going) && entries_[number - 1u].by == node;
}

bool name_table::is_open(std::uint16_t number, unsigned node) const noexcept {
  return is(number, state::there) && openers_.contains(opener(number, node));
}

bool name_table::is_unsettled(std::uint16_t number, unsigned node) const noexcept {
  return is(number, state::there) && entries_[number - 1u].unsettled && entries_[number - 1u].by == node;
}

void name_table::forget(std::uint16_t number) noexcept {
  entry& e = at(number);
  CHECK(e.is == state::making || e.is == state::going);
  if (e.is == state::making) --making_;
  if (e.named) names_.erase(e.name);
  e = {};
  free_.push_back(number);
}

}  // namespace quire::container
