// SPDX-License-Identifier: BSD-3-Clause
#include "core/absent_units.hpp"

#include <algorithm>

#include "core/core.hpp"

namespace quire::core {

/// Units from this one on that are in the store only, and whose content means something. Not a large part of what may be in memory.
std::uint64_t absent_units::run_from(const region_slot& r, std::uint64_t unit, std::uint64_t most) const noexcept {
  most = std::min({most, r.machine->units() - unit, r.layout.fitting(unit, frames_.limit() / 16)});
  std::uint64_t count = 0;
  while (count < most && frames_.is_away(r, unit + count) && r.machine->has_content(unit + count)) ++count;
  return count;
}

bool absent_units::waits(region_slot& r, std::uint64_t unit, std::uint64_t ahead) noexcept {
  const bool resumes = resuming_ == &r && resuming_unit_ == unit;
  if (resumes) resuming_ = nullptr;
  if (resumes || !is_absent(r, unit)) return false;
  if (parked_.has(r, unit) || frames_.is_filling(r, unit)) return true;
  const std::uint64_t run = run_from(r, unit, std::max<std::uint64_t>(ahead, 1));
  if (frames_.try_fill(r, unit, run)) return false;
  frames_.begin_fill(r, unit, run);
  return true;
}

void absent_units::prefetch(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  if (!frames_.limited()) return;
  const std::uint64_t end = std::min(first + count, r.machine->units());
  for (std::uint64_t unit = first; unit < end; ++unit) {
    const std::uint64_t run = frames_.is_filling(r, unit) ? 0 : run_from(r, unit, end - unit);
    if (run == 0 || frames_.try_fill(r, unit, run)) continue;
    frames_.begin_fill(r, unit, run);
    unit += run - 1;
  }
}

void absent_units::settle(region_slot& r, std::uint64_t unit) noexcept {
  while (parked_.has(r, unit)) {
    frames_.finish_fill(r, unit);
    go_on(r, unit, 1);
  }
}

void absent_units::finish_all(region_slot& r) noexcept {
  while (const unit_io* const done = frames_.finish_one(r)) {
    if (done->what == store::io::kind::fill) go_on(r, done->first, done->count);
  }
}

bool absent_units::take_done() noexcept {
  return frames_.take_done([this](const unit_io& done) {
    if (done.what == store::io::kind::fill) return go_on(*done.region, done.first, done.count);
    if (done.error != 0) core_.paging.on_flush_failed(*done.region, done.error);
  });
}

/// What waited for the units, in order. Replies about neighbours leave together, at the end; of one unit each message has its effects before the
/// next. A unit for which something waits does not leave memory (page_out.cpp); and what comes for it meanwhile, from this node itself, waits
/// behind the rest.
void absent_units::go_on(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  if (parked_.empty()) return;
  for (std::uint64_t unit = first; unit < first + count; ++unit) {
    bool first_of_unit = true;
    for (parked_unit next; parked_.pop(r, unit, next); first_of_unit = false) {
      if (next.m.kind != model::message_kind::invalid) {
        if (!first_of_unit) core_.performer.flush();  // an operation is done before the home goes away
        core_.in.take_unit(r, next.m);
        continue;
      }
      core_.performer.flush();
      resuming_ = &r;
      resuming_unit_ = unit;
      next.operation != nullptr ? next.operation->execute(core_) : core_.faults.begin_kernel_fault(r, next.address, next.write);
      resuming_ = nullptr;
    }
  }
  core_.performer.flush();
}

}  // namespace quire::core
