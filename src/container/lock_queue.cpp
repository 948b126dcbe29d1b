// SPDX-License-Identifier: BSD-3-Clause
#include "container/lock_queue.hpp"

#include <algorithm>

namespace quire::container {

std::size_t lock_queue::place_of(std::uint16_t container, const range_lock& wanted) const noexcept {
  const auto at = std::find_if(waiting_.begin(), waiting_.end(), [&](const request& one) {
    return one.container == container && one.wanted.owner == wanted.owner && one.wanted.kind == wanted.kind &&
           one.wanted.first == wanted.first && one.wanted.last == wanted.last;
  });
  return static_cast<std::size_t>(at - waiting_.begin());
}

/// Owners of what the request at `place` waits for.
void lock_queue::add_hindering(std::size_t place, bool behind, owners& into) const {
  const request& one = waiting_[place];
  held_.for_each_conflict(one.container, one.wanted, [&](const range_lock& other) { into.push_back(other.owner); });
  for (std::size_t earlier = 0; behind && earlier < place; ++earlier) {
    const request& other = waiting_[earlier];
    if (other.container == one.container && conflict_of(other.wanted, one.wanted)) into.push_back(other.wanted.owner);
  }
}

bool lock_queue::waits_for(const lock_owner& from, const lock_owner& to, bool behind) const {
  owners seen{from}, next;
  for (std::size_t done = 0; done < seen.size(); ++done) {
    next.clear();
    for (std::size_t place = 0; place < waiting_.size(); ++place) {
      if (waiting_[place].wanted.owner == seen[done]) add_hindering(place, behind, next);
    }
    for (const lock_owner& one : next) {
      if (one == to) return true;
      if (std::find(seen.begin(), seen.end(), one) == seen.end()) seen.push_back(one);
    }
  }
  return false;
}

/// Nothing that is held is in its way.
bool lock_queue::has_turn(std::size_t place) const {
  const request& one = waiting_[place];
  for (std::size_t earlier = 0; earlier < place; ++earlier) {
    const request& other = waiting_[earlier];
    if (other.container == one.container && conflict_of(other.wanted, one.wanted) &&
        !waits_for(other.wanted.owner, one.wanted.owner, true))
      return false;
  }
  return true;
}

lock_queue::outcome lock_queue::set(std::uint16_t container, const range_lock& wanted, lock_wait how) {
  std::size_t place = place_of(container, wanted);
  const auto leave = [&] {
    if (place < waiting_.size()) waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(place));
  };
  if (how == lock_wait::withdraws) {
    leave();
    return outcome::done;
  }
  const bool waits = how == lock_wait::queues && wanted.kind != lock_kind::none;
  if (waits && place == waiting_.size()) {
    if (waiting_.size() >= most_waiting) return outcome::full;
    waiting_.push_back({container, wanted});
  }
  if (waits && held_.conflict(container, wanted) == nullptr && !has_turn(place)) return outcome::in_the_way;
  switch (held_.set(container, wanted)) {
    case lock_table::outcome::done:
      leave();
      return outcome::done;
    case lock_table::outcome::full:
      if (waits) leave();
      return outcome::full;
    case lock_table::outcome::in_the_way:
      break;
  }
  if (!waits || wanted.owner.of_flock || !waits_for(wanted.owner, wanted.owner, false)) return outcome::in_the_way;
  leave();
  return outcome::deadlock;
}

void lock_queue::drop(std::uint16_t container) noexcept {
  held_.drop(container);
  std::erase_if(waiting_, [&](const request& one) { return one.container == container; });
}

void lock_queue::lost(unsigned node) noexcept {
  held_.lost(node);
  std::erase_if(waiting_, [&](const request& one) { return one.wanted.owner.node == node; });
}

}  // namespace quire::container
