// SPDX-License-Identifier: BSD-3-Clause
#include "core/frames.hpp"

#include <algorithm>
#include <cstring>

#include "base/log.hpp"
#include "core/content.hpp"
#include "model/ids.hpp"
#include "os/memory.hpp"

namespace quire::core {

static_assert(model::max_nodes <= pool::host_holds::most_nodes);

frame_queue::~frame_queue() { os::unmap(ring_, capacity_ * sizeof(entry)); }

void frame_queue::grow() noexcept {
  const std::size_t larger = std::max<std::size_t>(capacity_ * 2, os::page_bytes);
  int error = 0;
  auto* const ring = static_cast<entry*>(os::map_table(larger * sizeof(entry), error));
  if (ring == nullptr)
    base::die(QUIRE_NO_MEMORY, "no memory for the list of pages in memory: %s", std::strerror(error));
  for (std::size_t i = 0; i < size_; ++i) ring[i] = ring_[(head_ + i) & (capacity_ - 1)];
  os::unmap(ring_, capacity_ * sizeof(entry));
  ring_ = ring;
  capacity_ = larger;
  head_ = 0;
}

std::uint64_t frames::room() const noexcept {
  if (!limited()) return std::uint64_t{1} << 40;
  const std::uint64_t reserve = limit() / 8;
  return used_ + reserve < limit() ? limit() - reserve - used_ : 0;
}

void bring_frames(frames& all, region_slot& r, std::uint64_t first, std::uint64_t count, content how) noexcept {
  all.bring(r, first, count, how);
}

void hold_frames(frames& all, region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  for (std::uint64_t unit = first; all.shares(r) && unit < first + count; ++unit)
    use_content(all, r, unit, 1, r.machine->has_content(unit) ? content::read : content::asked);
}

void frames::bring(region_slot& r, std::uint64_t first, std::uint64_t units, content how) noexcept {
  const bool all_new = how == content::replaced || how == content::promised || how == content::asked;
  const frame_range all = r.layout.frames_of(first, units);
  for (std::uint64_t frame = all.first; frame < all.end; ++frame) {
    frame_state& f = r.frames.data()[frame];
    if (f.filling != 0) [[unlikely]]
      (void)finish_fill(r, frame);
    f.used = 1;
    if (f.resident == 0) {
      const bool keeps = is_away(r, frame) && !(all_new && is_all_of(r, frame, first, units));
      if (keeps) {
        const std::uint64_t together =
            all_new || f.saved == 0 ? 1 : away_from(r, frame, all.end - frame);  // a store is read in long pieces
        count_in(r, frame, together);  // before: what nobody holds is given back by whoever held it
        read_back(r, frame, together);
        for (std::uint64_t next = frame; next < frame + together; ++next) list(r, next, own);
      } else {
        enter(r, frame, how == content::replaced || how == content::asked ? came : own);
      }
    }
    if (how != content::read && how != content::sent) f.saved = 0;
    if (how == content::replaced) ++f.landing;
    if (how == content::sent) f.sent = period_;
  }
  count.most_bytes = std::max(count.most_bytes, used_);
}

/// Whether these units are all that the frame has.
bool frames::is_all_of(const region_slot& r, std::uint64_t frame, std::uint64_t first, std::uint64_t units) noexcept {
  const unit_range whole = r.layout.units_of(frame);
  return r.layout.offset_of(first) <= r.layout.offset_of(whole.first) &&
         r.layout.offset_of(first + units) >= r.layout.offset_of(whole.end);
}

void frames::enter(region_slot& r, std::uint64_t frame, frame_queue& queue) noexcept {
  count_in(r, frame, 1);
  list(r, frame, queue);
}

/// It has been counted.
void frames::list(region_slot& r, std::uint64_t frame, frame_queue& queue) noexcept {
  r.frames.data()[frame].resident = r.frames.data()[frame].taken = 1;
  if (limited()) enqueue(r, frame, queue);  // else nobody chooses
}

void frames::count_in(const region_slot& r, std::uint64_t first, std::uint64_t frames) noexcept {
  used_ += r.layout.bytes_of_frames(first, frames);
  if (!shares(r)) return shares() ? holds_.add_own(r.layout.bytes_of_frames(first, frames)) : void();
  for (std::uint64_t frame = first; frame < first + frames; ++frame)
    holds_.enter(position_of_frame(r, frame), r.layout.bytes_of_frames(frame, 1));
}

/// To the system, but what other nodes hold. 0 or errno.
int frames::let_go(region_slot& r, std::uint64_t first, std::uint64_t frames) noexcept {
  const std::uint64_t bytes = r.layout.bytes_of_frames(first, frames);
  used_ -= bytes;
  if (!shares(r)) {
    if (shares()) holds_.remove_own(bytes);
    return r.memory->give_back(r.layout.offset_of_frame(first), bytes);
  }
  int error = 0;
  for (std::uint64_t end = first + frames, frame = first; frame < end && error == 0; ++frame) {
    const std::uint64_t begin = frame;
    while (frame < end && holds_.leave(position_of_frame(r, frame))) ++frame;
    if (begin == frame) continue;
    error = r.memory->give_back(r.layout.offset_of_frame(begin), r.layout.bytes_of_frames(begin, frame - begin));
    for (std::uint64_t one = begin; one < frame; ++one)
      holds_.gone(position_of_frame(r, one), r.layout.bytes_of_frames(one, 1));
  }
  return error;
}

/// Its memory goes with its region, has gone, or is what a fill has left that failed: whoever has the frame next fills
/// the whole of it.
void frames::forget_frame(const region_slot& r, std::uint64_t frame) noexcept {
  const std::uint64_t bytes = r.layout.bytes_of_frames(frame, 1);
  used_ -= bytes;
  if (!shares()) return;
  if (!shares(r)) return holds_.remove_own(bytes);
  if (holds_.leave(position_of_frame(r, frame))) holds_.gone(position_of_frame(r, frame), bytes);
}

void frames::leave_host(region_slot& r) noexcept {
  r.dumped.for_each(r.about.bytes, [&](std::uint64_t offset, std::uint64_t bytes) {
    const unit_range part = r.layout.under(offset, bytes);
    const frame_range all = r.layout.frames_of(part.first, part.count());
    for (std::uint64_t frame = all.first; frame < all.end; ++frame) {
      if (r.frames.data()[frame].resident == 0) continue;
      const std::uint64_t position = position_of_frame(r, frame), size = r.layout.bytes_of_frames(frame, 1);
      if (holds_.leave(position)) holds_.gone(position, size);
      holds_.add_own(size);
    }
  });
}

void frames::enqueue(region_slot& r, std::uint64_t frame, frame_queue& queue) noexcept {
  frame_state& f = r.frames.data()[frame];
  const std::uint64_t bytes = r.layout.bytes_of_frames(frame, 1);
  if (f.listed != 0) return;
  f.listed = 1;
  if (f.queued != 0) return (f.in_came != 0 ? came : own).counts(bytes);  // it has kept its place
  f.queued = 1;
  f.in_came = &queue == &came ? 1 : 0;
  queue.push({r.about.id, frame}, bytes);
}

bool frames::dequeued(region_slot& r, std::uint64_t frame) noexcept {
  const bool was_listed = r.frames.data()[frame].listed != 0;
  unlist(r, frame);
  r.frames.data()[frame].queued = 0;
  return was_listed;
}

void frames::unlist(region_slot& r, std::uint64_t frame) noexcept {
  frame_state& f = r.frames.data()[frame];
  if (f.listed == 0) return;
  f.listed = 0;
  (f.in_came != 0 ? came : own).popped(r.layout.bytes_of_frames(frame, 1));
}

/// In the middle of a step, which cannot be put off: the driver waits for the store.
void frames::read_back(region_slot& r, std::uint64_t first, std::uint64_t frames) noexcept {
  const std::uint64_t offset = r.layout.offset_of_frame(first);
  const std::span<std::byte> into{r.memory->system_view() + offset, r.layout.bytes_of_frames(first, frames)};
  const int error =
      r.frames.data()[first].saved != 0 ? r.store->fill(r.position + offset, into) : r.backing->fill(offset, into);
  if (error != 0) lost(r, first, error);
  if (r.frames.data()[first].saved == 0) clear_beyond_end(r, first, frames);
  count.read += frames;
}

/// What only the store had cannot be had from there. The job ends, as nobody else has it.
void frames::lost(const region_slot& r, std::uint64_t first, int error) noexcept {
  const std::uint64_t address = r.about.base + r.layout.offset_of_frame(first);
  const store::store& from = r.frames.data()[first].saved != 0 ? *r.store : *r.backing;
  base::die(QUIRE_SYSTEM, "cannot read the page at 0x%lx back from the %s in %s: %s",
            static_cast<unsigned long>(address), from.name(), from.where(), std::strerror(error));
}

void frames::deposited(region_slot& r, std::uint64_t first, std::uint64_t units) noexcept {
  r.dumped.add(*r.memory, r.layout.offset_of(first), r.bytes_of(first, units));
  const frame_range all = r.layout.frames_of(first, units);
  for (std::uint64_t frame = all.first; frame < all.end; ++frame) r.frames.data()[frame].saved = 1;
  count.written += all.count();
}

void frames::give_back(region_slot& r, std::uint64_t first, std::uint64_t frames) noexcept {
  for (std::uint64_t frame = first; frame < first + frames; ++frame) {
    r.frames.data()[frame].resident = 0;
    unlist(r, frame);
  }
  const int error = let_go(r, first, frames);
  if (error != 0) {
    base::die(QUIRE_SYSTEM,
              "cannot give %lu KiB of pool '%s' back to the system: %s; unset QUIRE_MEMORY_LIMIT, or use another pool",
              static_cast<unsigned long>(r.layout.bytes_of_frames(first, frames) >> 10), r.memory->name(),
              std::strerror(error));
  }
}

void frames::forget(region_slot& r) noexcept {
  if (!r.tracks_frames()) return;
  while (finish_one(r) != nullptr) continue;
  for (const auto& io : ios_) {
    if (io->under_way && io->staged && io->region == &r)
      io->told = true;  // it ends by itself, and nobody is left to hear of it
  }
  const auto bytes_of = [&](std::uint64_t frame) { return r.layout.bytes_of_frames(frame, 1); };
  const auto counted = [&](std::uint64_t frame) { return r.frames.data()[frame].listed != 0 ? bytes_of(frame) : 0; };
  came.forget(r.about.id, counted);
  own.forget(r.about.id, counted);
  bool saved = false;
  r.dumped.for_each(r.about.bytes, [&](std::uint64_t offset, std::uint64_t bytes) {
    const unit_range part = r.layout.under(offset, bytes);
    const frame_range all = r.layout.frames_of(part.first, part.count());
    for (std::uint64_t frame = all.first; frame < all.end; ++frame) {
      frame_state& f = r.frames.data()[frame];
      if (f.resident != 0) forget_frame(r, frame);
      saved |= f.saved != 0;
      f = {};
    }
  });
  if (saved) r.store->forget(position_of(r, 0), r.about.bytes);
  for (let_in& l : let_in_) {
    if (l.region == &r) l = {};
  }
}

}  // namespace quire::core
