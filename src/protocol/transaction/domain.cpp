// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/transaction/domain.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace quire::transaction {

void domain::begin_commit() {
  std::ranges::sort(writes_);
  under_way_ = true;
  word_.change(phase::committing);
}

bool domain::on_unmapped() noexcept {
  if (!word_.doom()) return false;
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
