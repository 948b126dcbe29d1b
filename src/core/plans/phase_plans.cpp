// SPDX-License-Identifier: BSD-3-Clause
#include "core/plans/phase_plans.hpp"

#include <algorithm>
#include <utility>

namespace quire::core {

void phase_plans::begin(std::uint64_t key) noexcept {
  end();
  if (key == 0) return;
  if (phases_.size() >= most_phases && !phases_.contains(key)) {
    phases_.clear();
    in_all_ = 0;
  }
  now_ = &phases_[key];
  now_->used = ++clock_;
  const unsigned nth = ++now_->executions;
  looks_again_ = nth % looked_at == 0 ? nth / looked_at % neighbours : neighbours;
}

void phase_plans::note(model::region_id region, std::uint64_t unit, bool write, use how) noexcept {
  if (now_ == nullptr) return;
  if (events_.size() == most_units) {  // all that is known of it goes
    in_all_ -= now_->units.size();
    now_->units.clear();
    events_.clear();
    now_ = nullptr;
    looks_ = false;
    return;
  }
  if (how == use::asked) ++strays_;
  events_.push_back({place_of(region, unit), static_cast<std::uint8_t>(bit(how) | (write ? write_bit : 0))});
}

std::optional<phase_plans::need> phase_plans::next() noexcept {
  if (now_ == nullptr) return {};
  while (next_ < now_->units.size()) {
    const unit_plan& u = now_->units[next_++];
    if (u.score < planned) continue;
    const bool looks = is_looked_at(u);
    looks_ = looks_ || looks;
    return need{model::region_id{static_cast<std::uint16_t>(u.place >> 48)}, u.place << 16 >> 16, u.write, looks};
  }
  return {};
}

void phase_plans::note_asked(bool elsewhere) noexcept {
  unit_plan& u = now_->units[next_ - 1];
  u.asked = true;
  u.looked = is_looked_at(u);
  if (!elsewhere) return;
  ++count_.asked;
}

const phase_plans::unit_plan* phase_plans::find(std::uint64_t place) const noexcept {
  const auto u = std::ranges::lower_bound(now_->units, place, {}, &unit_plan::place);
  return u != now_->units.end() && u->place == place && u->score >= planned ? &*u : nullptr;
}

bool phase_plans::is_looked_at(const unit_plan& u) const noexcept {
  if (u.place % neighbours == looks_again_) return true;
  if (u.proven) return false;
  const std::uint64_t first = model::first_neighbour(u.place);
  if (first == u.place || u.in_vain != 0) return true;
  const unit_plan* const speaks = find(first);
  return speaks == nullptr || speaks->in_vain != 0;
}

bool phase_plans::looks(model::region_id region, std::uint64_t unit) const noexcept {
  if (!looks_) return false;
  const unit_plan* const u = find(place_of(region, unit));
  return u != nullptr && is_looked_at(*u);
}

/// One event for each place, in ascending order.
void phase_plans::sort_events() noexcept {
  std::ranges::sort(events_, {}, &event::place);
  std::size_t kept = 0;
  for (const event& e : events_) {
    if (kept != 0 && events_[kept - 1].place == e.place) {
      events_[kept - 1].uses |= e.uses;
    } else {
      events_[kept++] = e;
    }
  }
  events_.resize(kept);
}

void phase_plans::end() noexcept {
  if (now_ != nullptr) {
    sort_events();
    merged_.clear();
    auto e = events_.begin();
    const auto add_new = [&] {
      unit_plan fresh{.place = e->place};
      if (learn(fresh, e->uses)) merged_.push_back(fresh);
      ++e;
    };
    for (unit_plan& u : now_->units) {
      while (e != events_.end() && e->place < u.place) add_new();
      const bool met = e != events_.end() && e->place == u.place;
      if (learn(u, met ? e->uses : std::uint8_t{0})) merged_.push_back(u);
      if (met) ++e;
    }
    while (e != events_.end()) add_new();
    std::size_t used = 0;
    now_->planned = 0;
    for (const unit_plan& u : merged_) {
      now_->planned += u.score >= planned ? 1 : 0;
      used += u.idle == 0 ? 1 : 0;
    }
    now_->covers = now_->planned != 0 && 4 * now_->planned >= 3 * used;
    in_all_ += merged_.size();
    in_all_ -= now_->units.size();
    now_->units.assign(merged_.begin(), merged_.end());
    now_ = nullptr;
    make_room();
  }
  events_.clear();
  next_ = strays_ = 0;
  looks_ = false;
}

bool phase_plans::learn(unit_plan& u, std::uint8_t uses) noexcept {
  const bool writes = (uses & write_bit) != 0;
  if (std::exchange(u.asked, false)) return learn_of_asked(u, uses);
  if (u.score < 0) {  // guesses do not count
    const bool used = (uses & bit(use::asked)) != 0 || writes;
    u.score = static_cast<std::int8_t>(u.score + (used ? 1 : 0));
    u.idle = used ? 0 : 1;
    return true;
  }
  u.idle = uses != 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(u.idle + 1);
  if (u.score < planned) {
    ++u.score;
    u.write = writes;
    return uses != 0;
  }
  u.write = u.write || writes;
  u.proven = u.proven || (uses & bit(use::here)) != 0;
  return u.idle < forgotten;
}

bool phase_plans::learn_of_asked(unit_plan& u, std::uint8_t uses) noexcept {
  const bool looked = u.looked, faulted = (uses & ~(bit(use::ahead) | write_bit)) != 0;
  u.idle = 0;
  if ((uses & bit(use::asked)) != 0 || (looked && !faulted)) {
    const auto times = std::min<std::uint8_t>(u.in_vain + 1, most_in_vain);
    u = {.place = u.place, .score = static_cast<std::int8_t>(1 - (1 << times)), .idle = 1, .in_vain = times};
    ++count_.unused;
    return true;
  }
  const bool writes = (uses & write_bit) != 0;
  u.write = looked ? writes : u.write || writes;
  u.proven = u.proven || looked;
  return true;
}

void phase_plans::make_room() noexcept {
  while (in_all_ > most_in_all) {
    const auto oldest = std::ranges::min_element(phases_, {}, [](const auto& one) { return one.second.used; });
    in_all_ -= oldest->second.units.size();
    phases_.erase(oldest);
  }
}

}  // namespace quire::core
