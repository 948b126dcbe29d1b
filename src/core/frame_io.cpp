// SPDX-License-Identifier: BSD-3-Clause
// Content on its way between frames and their stores. Driver's thread only, no heap: the crew reads and writes.
#include <algorithm>

#include "core/frames.hpp"

namespace quire::core {

namespace {
constexpr std::uint64_t most_at_once = 1 << 20;          ///< of an I/O
constexpr std::uint64_t most_by_the_driver = 128 * 1024; ///< what takes microseconds, if it is in the page cache
}  // namespace

/// Units from `first` on, not more than `most`, that are in the store only.
std::uint64_t frames::away_from(const region_slot& r, std::uint64_t first, std::uint64_t most) const noexcept {
  std::uint64_t count = 0;
  while (count < most && is_away(r, first + count) && !is_filling(r, first + count)) ++count;
  return count;
}

bool frames::try_fill(region_slot& r, std::uint64_t first, std::uint64_t most) noexcept {
  const std::uint64_t units = away_from(r, first, std::min(most, r.layout.fitting(first, most_by_the_driver)));
  if (units == 0 || r.store->try_fill(position_of(r, first), {r.system(first), r.bytes_of(first, units)}) != 0) return false;
  for (std::uint64_t unit = first; unit < first + units; ++unit) enter(r, unit, own);
  count.units_read += units;
  count.most_bytes = std::max(count.most_bytes, used_);
  return true;
}

void frames::begin_fill(region_slot& r, std::uint64_t first, std::uint64_t most) noexcept {
  const std::uint64_t units = away_from(r, first, std::min(most, r.layout.fitting(first, most_at_once)));
  if (units == 0) return;
  for (std::uint64_t unit = first; unit < first + units; ++unit) r.frames.data()[unit].filling = 1;
  used_ += r.bytes_of(first, units);
  count.most_bytes = std::max(count.most_bytes, used_);
  begin(store::io::kind::fill, r, first, units);
}

void frames::begin_flush(region_slot& r, std::uint64_t first, std::uint64_t units) noexcept {
  frame_state* const f = r.frames.data();
  for (std::uint64_t unit = first, end = first; unit < first + units; unit = end) {
    while (end < first + units && f[end].saved == f[unit].saved) ++end;
    if (f[unit].saved != 0) {
      give_back(r, unit, end - unit);
      continue;
    }
    for (std::uint64_t u = unit; u < end; ++u) {
      f[u].saved = f[u].flushing = 1;
      f[u].used = 0;
    }
    leaving_ += r.bytes_of(unit, end - unit);
    begin(store::io::kind::flush, r, unit, end - unit);
  }
}

void frames::begin(store::io::kind what, region_slot& r, std::uint64_t first, std::uint64_t units) noexcept {
  std::size_t free = 0;
  while (free < ios_.size() && ios_[free]->under_way) ++free;
  if (free == ios_.size()) ios_.push_back(base::make_fault<unit_io>());
  unit_io& io = *ios_[free];
  io.what = what;
  io.of = r.store;
  io.at = position_of(r, first);
  io.memory = r.system(first);
  io.bytes = r.bytes_of(first, units);
  io.region = &r;
  io.first = first;
  io.count = units;
  io.under_way = true;
  io.settled = false;
  crew_->begin(io);
}

void frames::settle(unit_io& done) noexcept {
  if (std::exchange(done.settled, true)) return;
  if (done.what == store::io::kind::flush) return settle_flush(done);
  region_slot& r = *done.region;
  if (done.error != 0) lost(r, done.first, done.error);
  for (std::uint64_t unit = done.first; unit < done.first + done.count; ++unit) {
    r.frames.data()[unit].filling = 0;
    used_ -= r.bytes_of(unit);  // enter() counts it
    enter(r, unit, own);
  }
  count.units_read += done.count;
}

/// What was used meanwhile stays: its frame may be mapped, and have changed. So does what must not move now, and what could not be written.
void frames::settle_flush(unit_io& done) noexcept {
  region_slot& r = *done.region;
  leaving_ -= r.bytes_of(done.first, done.count);
  if (done.error == 0) count.units_written += done.count;
  std::uint64_t first = done.first;  // of those that leave, up to `unit`
  for (std::uint64_t unit = done.first; unit < done.first + done.count; ++unit) {
    frame_state& f = r.frames.data()[unit];
    f.flushing = 0;
    if (done.error != 0) f.saved = 0;
    if (done.error == 0 && f.used == 0 && !r.change.frozen) continue;
    own.push({r.about.id, unit}, r.bytes_of(unit));
    if (first != unit) give_back(r, first, unit - first);
    first = unit + 1;
  }
  if (const std::uint64_t end = done.first + done.count; first != end) give_back(r, first, end - first);
}

void frames::finish_fill(region_slot& r, std::uint64_t unit) noexcept {
  for (const auto& io : ios_) {
    const bool has_it = io->under_way && !io->settled && io->region == &r && unit - io->first < io->count;
    if (!has_it || io->what != store::io::kind::fill) continue;
    crew_->finish(*io);
    return settle(*io);
  }
}

const unit_io* frames::finish_one(const region_slot& r) noexcept {
  const auto found = std::find_if(ios_.begin(), ios_.end(), [&](const auto& io) { return io->under_way && !io->settled && io->region == &r; });
  if (found == ios_.end()) return nullptr;
  crew_->finish(**found);
  settle(**found);
  return found->get();
}

bool frames::any_under_way(const region_slot& r) const noexcept {
  return std::any_of(ios_.begin(), ios_.end(), [&](const auto& io) { return io->under_way && !io->settled && io->region == &r; });
}

bool frames::any_under_way() const noexcept {
  return std::any_of(ios_.begin(), ios_.end(), [](const auto& io) { return io->under_way; });
}

}  // namespace quire::core
