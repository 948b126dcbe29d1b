// SPDX-License-Identifier: BSD-3-Clause
#include "core/absent_units.hpp"

#include <algorithm>

#include "core/core.hpp"
#include "core/fault.hpp"
#include "core/frames.hpp"
#include "core/inbox.hpp"
#include "core/page_out.hpp"
#include "core/store_status.hpp"
#include "core/stored_units.hpp"

namespace quire::core {

/// Frames from this one on that are in the store only, and whose content means something. Not a large part of what may
/// be in memory.
std::uint64_t absent_units::run_from(const region_slot& r, std::uint64_t frame, std::uint64_t most) const noexcept {
  most = std::min({most, r.layout.frames() - frame, r.layout.frames_fitting(frame, frames_.most_ahead())});
  std::uint64_t count = 0;
  while (count < most && frames_.is_away(r, frame + count) && frames_.has_content(r, frame + count)) ++count;
  return count;
}

bool absent_units::waits(region_slot& r, std::uint64_t unit, std::uint64_t ahead) noexcept {
  const frame_range wanted = r.layout.frames_of(unit, std::max<std::uint64_t>(ahead, 1));
  const std::uint64_t frame = wanted.first;
  const bool resumes = resuming_ == &r && resuming_frame_ == frame;
  if (resumes) resuming_ = nullptr;
  if (resumes || !is_absent(r, unit)) return false;
  if (frames_.is_filling(r, frame)) {
    frames_.join_fill(r, frame);
    return true;
  }
  if (parked_.has(r, frame)) return true;
  const std::uint64_t run = run_from(r, frame, wanted.count());
  if (frames_.try_fill(r, frame, run)) return false;
  frames_.begin_fill(r, frame, run);
  return true;
}

void absent_units::prefetch(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  if (!r.tracks_frames() || count == 0 || first >= r.machine->units()) return;
  // Threads wait until something has left (pager::starved()), but for what is here: so nothing comes that they have not
  // asked for.
  if (frames_.limited() && frames_.is_over_by(8)) return;
  const frame_range all = r.layout.frames_of(first, std::min(count, r.machine->units() - first));
  for (std::uint64_t frame = all.first; frame < all.end; ++frame) {
    const std::uint64_t run = frames_.is_filling(r, frame) ? 0 : run_from(r, frame, all.end - frame);
    if (run == 0 || frames_.try_fill(r, frame, run)) continue;
    frames_.begin_fill(r, frame, run);
    frame += run - 1;
  }
}

void absent_units::settle_frames(region_slot& r, const frame_range& all) noexcept {
  for (std::uint64_t frame = all.first; frame < all.end; ++frame) {
    while (parked_.has(r, frame)) {
      const auto missed = frames_.finish_fill(r, frame);
      if (missed.count == 0) {
        go_on(r, frame, 1);
      } else if (missed.count > 1 || missed.error == 0) {
        frames_.begin_fill(r, frame, 1);
      } else {
        give_up(r, frame, missed.error);
      }
    }
  }
}

void absent_units::finish_all(region_slot& r) noexcept {
  while (frame_io* const done = frames_.finish_one(r)) {
    done->told = true;
    go_on_after(*done);
  }
}

bool absent_units::look() noexcept {
  return frames_.tracks_any() && frames_.take_done([this](frame_io& done) { go_on_after(done); });
}

bool absent_units::would_wait(const region_slot& r, std::uint64_t frame) const noexcept {
  return parked_.has(r, frame) ||
         (frames_.is_away(r, frame) && (frames_.is_filling(r, frame) || frames_.has_content(r, frame)));
}

bool absent_units::is_quiet(const region_slot& r) const noexcept {
  return !r.tracks_frames() || (!parked_.has_any_of(r) && !frames_.any_under_way(r));
}

bool absent_units::is_quiet() const noexcept { return parked_.empty() && !frames_.any_under_way(); }

void absent_units::go_on_after(frame_io& done) noexcept {
  if (done.staged) return core_.stored.on_staged(done);
  if (done.what == store::io::kind::flush) {
    if (done.error != 0) core_.paging.on_flush_failed(*done.region, done.error);
  } else if (done.error != 0 || done.stale) {
    go_on_without(done);
  } else {
    go_on(*done.region, done.first, done.count);
  }
}

/// The backing does not give the content of some of these frames: of each by itself it is asked again, where something
/// waits. Meanwhile some may have come, or be on their way again.
void absent_units::go_on_without(const frame_io& done) noexcept {
  region_slot& r = *done.region;
  for (std::uint64_t frame = done.first; frame < done.first + done.count; ++frame) {
    if (!parked_.has(r, frame) || frames_.is_filling(r, frame)) continue;
    if (!frames_.is_away(r, frame)) {
      go_on(r, frame, 1);
    } else if (done.count > 1 || done.stale || done.joined) {
      if (!frames_.try_fill(r, frame, 1)) {
        frames_.begin_fill(r, frame, 1);
      } else {
        go_on(r, frame, 1);
      }
    } else {
      give_up(r, frame, done.error);
    }
  }
}

/// The backing does not give the content: what waited for it ends with that. What no machine can refuse needs no
/// content.
void absent_units::give_up(region_slot& r, std::uint64_t frame, int error) noexcept {
  if (error != store::store::beyond) core_.stored.note_failure(r, false, error);
  for (parked_unit next; parked_.pop(r, frame, next);) {
    if (next.operation != nullptr) {
      next.operation->complete(store_status::of(error));
    } else if (next.m.kind != model::message_kind::invalid && !core_.in.refuse_unit(r, next.m, error)) {
      core_.in.take_unit(r, next.m);
    }
  }
  core_.perform_steps();
}

/// What waited for the frames, in order. Replies about neighbours leave together, at the end; of one frame each message
/// has its effects before the next. A frame for which something waits does not leave memory (page_out.cpp), unless it
/// is dropped: then it is on its way again, and the rest waits for that. What comes for it meanwhile, from this node
/// itself, waits behind the rest.
void absent_units::go_on(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  if (parked_.empty()) return;
  for (std::uint64_t frame = first; frame < first + count; ++frame) {
    bool first_of_frame = true;
    for (parked_unit next; !frames_.is_filling(r, frame) && parked_.pop(r, frame, next); first_of_frame = false) {
      if (next.m.kind != model::message_kind::invalid) {
        if (!first_of_frame) core_.perform_steps();  // an operation is done before the home goes away
        core_.in.take_unit(r, next.m);
        continue;
      }
      core_.perform_steps();
      resuming_ = &r;
      resuming_frame_ = frame;
      next.operation != nullptr ? next.operation->execute(core_)
                                : core_.faults.begin_kernel_fault(r, next.address, next.write);
      resuming_ = nullptr;
    }
  }
  core_.perform_steps();
}

}  // namespace quire::core
