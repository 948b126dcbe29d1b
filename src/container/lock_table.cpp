// SPDX-License-Identifier: BSD-3-Clause
#include "container/lock_table.hpp"

#include <algorithm>
#include <iterator>

namespace quire::container {
namespace {

bool overlap(const range_lock& a, const range_lock& b) noexcept { return a.first <= b.last && b.first <= a.last; }
/// Together they are one range.
bool touch(const range_lock& a, const range_lock& b) noexcept {
  return overlap(a, b) || (a.last < b.first && b.first - a.last == 1) || (b.last < a.first && a.first - b.last == 1);
}

}  // namespace

const range_lock* lock_table::conflict(std::uint16_t container, const range_lock& wanted) const noexcept {
  const auto at = held_.find(container);
  if (at == held_.end() || wanted.kind == lock_kind::none) return nullptr;
  const auto found = std::find_if(at->second.begin(), at->second.end(),
                                  [&](const range_lock& held) { return conflict_of(held, wanted); });
  return found != at->second.end() ? &*found : nullptr;
}

lock_table::outcome lock_table::set(std::uint16_t container, const range_lock& wanted) {
  if (conflict(container, wanted) != nullptr) return outcome::in_the_way;
  if (wanted.kind != lock_kind::none && count_ >= most) return outcome::full;
  auto& all = held_[container];
  const std::size_t before = all.size();
  range_lock made = wanted;
  base::fault_vector<range_lock> after;
  for (const range_lock& h : all) {
    const bool own = h.owner == wanted.owner;
    if (own && h.kind == wanted.kind && touch(h, wanted)) {
      made.first = std::min(made.first, h.first);
      made.last = std::max(made.last, h.last);
    } else if (own && overlap(h, wanted)) {
      if (h.first < wanted.first) after.push_back({h.owner, h.kind, h.first, wanted.first - 1});
      if (h.last > wanted.last) after.push_back({h.owner, h.kind, wanted.last + 1, h.last});
    } else {
      after.push_back(h);
    }
  }
  if (wanted.kind != lock_kind::none) after.push_back(made);
  count_ = count_ - before + after.size();
  if (after.empty()) {
    held_.erase(container);
  } else {
    all.swap(after);
  }
  return outcome::done;
}

void lock_table::drop(std::uint16_t container) noexcept {
  const auto at = held_.find(container);
  if (at == held_.end()) return;
  count_ -= at->second.size();
  held_.erase(at);
}

void lock_table::lost(unsigned node) noexcept {
  for (auto at = held_.begin(); at != held_.end();) {
    count_ -= std::erase_if(at->second, [&](const range_lock& held) { return held.owner.node == node; });
    at = at->second.empty() ? held_.erase(at) : std::next(at);
  }
}

}  // namespace quire::container
