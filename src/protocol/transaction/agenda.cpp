// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/transaction/agenda.hpp"

#include <algorithm>

namespace quire::transaction {

/// The event that adds now: a new one, if some of the last has been handed out already.
agenda::event& agenda::open() {
  if (used_ == 0 || events_[used_ - 1]->has_begun) {
    if (used_ == events_.size()) events_.push_back(base::make_fault<event>());
    ++used_;
  }
  return *events_[used_ - 1];
}

void agenda::close(event& e) noexcept {
  e.entries.clear();
  e.actions.clear();
  e.bytes.clear();
  e.at = 0;
  e.has_begun = false;
  --used_;
}

agenda::entry& agenda::add(action::kind what) {
  event& e = open();
  CHECK(e.entries.empty() || !e.entries.back().is_step);
  entry& added = e.entries.emplace_back();
  added.what = what;
  return added;
}

void agenda::add(action::kind what, model::node_id to, const model::message& m, std::span<const std::byte> value) {
  entry& added = add(what);
  event& e = *events_[used_ - 1];
  added.to = to;
  added.m = m;
  added.first = e.bytes.size();
  added.count = value.size();
  e.bytes.insert(e.bytes.end(), value.begin(), value.end());
}

/// Lists for the same region are one.
void agenda::perform(model::region_id region, const model::actions& list) {
  if (list.size() == 0) return;
  event& e = open();
  const bool joins =
      !e.entries.empty() && e.entries.back().what == action::kind::perform && e.entries.back().region == region;
  entry& to = joins ? e.entries.back() : add(action::kind::perform);
  if (!joins) {
    to.region = region;
    to.first = e.actions.size();
  }
  to.count += list.size();
  e.actions.insert(e.actions.end(), list.begin(), list.end());
}

void agenda::go_on(step s) {
  entry& added = add(action::kind::perform_all);
  added.is_step = true;
  added.goes_on = s;
}

/// Of many actions as many as a list has room for.
const agenda::action* agenda::hand_out(event& e) noexcept {
  e.has_begun = true;
  entry& next = e.entries[e.at];
  e.now = action{};
  e.now.what = next.what;
  e.now.region = next.region;
  e.now.to = next.to;
  e.now.m = next.m;
  if (next.what != action::kind::perform) {
    e.now.value = std::span<const std::byte>(e.bytes).subspan(next.first, next.count);
    ++e.at;
    return &e.now;
  }
  const std::size_t count = std::min(next.count, model::actions::capacity);
  e.list.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const model::action& a = e.actions[next.first + i];
    e.list.add(a.kind, a.unit) = a;
  }
  next.first += count;
  next.count -= count;
  if (next.count == 0) ++e.at;
  e.now.list = &e.list;
  return &e.now;
}

}  // namespace quire::transaction
