// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/transaction/token/arrivals.hpp"

#include <algorithm>
#include <utility>

namespace quire::transaction::token {

void arrivals::on_told(node_id from, commit_number number) noexcept {
  commit_number& needs = of_[from.value()].needs;
  needs = std::max(needs, number);
}

bool arrivals::keeps_back(const model::message& m, std::span<const std::byte> value, commit_number applied) {
  sender& s = of_[m.from.value()];
  if (s.needs <= applied && s.waits.empty() && !s.leaves) return false;
  kept& k = s.waits.emplace_back();
  k.m = m;
  k.needs = s.needs;
  k.value.assign(value.begin(), value.end());
  ++waiting_;
  return true;
}

bool arrivals::take(commit_number applied, kept& to) {
  if (waiting_ == 0) return false;
  const auto due = std::ranges::find_if(
      of_, [applied](const sender& s) { return !s.leaves && !s.waits.empty() && s.waits.front().needs <= applied; });
  if (due == of_.end()) return false;
  to = std::move(due->waits.front());
  due->waits.pop_front();
  due->leaves = true;
  --waiting_;
  return true;
}

}  // namespace quire::transaction::token
