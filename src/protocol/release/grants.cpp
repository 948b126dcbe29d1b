// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/grants.hpp"

#include <algorithm>

namespace quire::release {

const grants::grant* grants::find(std::uint64_t unit) const noexcept {
  const auto at = std::lower_bound(grants_.begin(), grants_.end(), unit,
                                   [](const grant& g, std::uint64_t u) { return g.unit < u; });
  return at != grants_.end() && at->unit == unit ? &*at : nullptr;
}

grants::grant& grants::make(std::uint64_t unit, unit_state& s) {
  s.granted = 1;
  const auto at = std::lower_bound(grants_.begin(), grants_.end(), unit,
                                   [](const grant& g, std::uint64_t u) { return g.unit < u; });
  grant& made = *grants_.emplace(at);
  made.unit = unit;
  return made;
}

void grants::drop(std::uint64_t unit, unit_state& s) {
  s.granted = 0;
  grants_.erase(grants_.begin() + (find(unit) - grants_.data()));
}

bool grants::must_wait(std::uint64_t unit, const unit_state& s, node_id who) const {
  if (s.granted == 0) return false;
  const grant& g = *find(unit);
  return !g.held || g.holder != who;  // none has it: those in the queue were here before
}

void grants::put_off(const message& m) {
  ++table_.count.pin_waits;
  find(m.unit)->queue.push_back(m);
}

}  // namespace quire::release
