// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/transaction/domain.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "protocol/transaction/private_units.hpp"

namespace quire::transaction {

domain::domain(const protocol::job& node, effects& to) : to_(to), keeps_bytes_(node.twin_pages * page_bytes) {}

void domain::begin_commit() {
  std::ranges::sort(writes_);
  under_way_ = true;
  word_.change(phase::committing);
}

void domain::undo() {
  CHECK(!under_way_);
  own_unmapping_ = true;
  for (const written_unit& w : writes_) {
    actions_.clear();
    units_of(w.region).on_undo(w.unit, actions_);
    to_.perform(w.region, actions_);
  }
  to_.perform_all();
  own_unmapping_ = false;
  writes_.clear();
}

void domain::hide(model::region_id region, std::uint64_t first, std::uint64_t count) {
  const model::machine* const m = to_.machine_of(region);
  if (m == nullptr || m->protocol() != id) return;
  own_unmapping_ = true;
  for (std::uint64_t unit = first; unit != first + count; ++unit) {
    actions_.clear();
    units_of(region).on_hide(unit, actions_);
    if (actions_.size() != 0) to_.perform(region, actions_);
  }
  to_.perform_all();
  own_unmapping_ = false;
}

bool domain::on_unmapped() noexcept {
  if (own_unmapping_ || !word_.doom()) return false;
  CHECK(!has_turn());  // (T3)
  ++count_.dooms;
  return true;
}

bool domain::keep_copy(std::uint64_t bytes) noexcept {
  if (kept_bytes_ + bytes > keeps_bytes_) return false;
  kept_bytes_ += bytes;
  return true;
}

bool domain::commits_in(model::region_id region) const {
  return (under_way_ || has_turn()) && std::ranges::find(writes_, region, &written_unit::region) != writes_.end();
}

void domain::forget(model::region_id region) {
  const bool written = std::erase_if(writes_, [&](const written_unit& w) { return w.region == region; }) != 0;
  if (written && !has_turn()) (void)on_unmapped();
}

}  // namespace quire::transaction
