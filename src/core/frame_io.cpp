// SPDX-License-Identifier: BSD-3-Clause
// Content on its way between frames and their stores. Driver's thread only, no heap: the crew reads and writes.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/copy_words.hpp"
#include "base/fault_heap.hpp"
#include "core/frames.hpp"

namespace quire::core {

namespace {
constexpr std::uint64_t io_bytes = 1 << 20;               ///< of an I/O
constexpr std::uint64_t most_by_the_driver = 128 * 1024;  ///< what takes microseconds, if it is in the page cache
}  // namespace

/// Whatever the store has there: it may be about to be cut.
void frames::clear_beyond_end(const region_slot& r, std::uint64_t frame, std::uint64_t count) const noexcept {
  const std::uint64_t first = r.layout.offset_of_frame(frame), end = first + r.layout.bytes_of_frames(frame, count),
                      from = std::max(first, r.end);
  if (from < end) std::memset(r.memory->system_view() + from, 0, end - from);
}

/// Frames from `first` on, not more than `most`, that are in the store only.
std::uint64_t frames::away_from(const region_slot& r, std::uint64_t first, std::uint64_t most) const noexcept {
  std::uint64_t count = 0;
  const bool saved = r.frames.data()[first].saved != 0;  // else in the backing
  const auto goes_on = [&](std::uint64_t frame) {
    return (r.frames.data()[frame].saved != 0) == saved && is_away(r, frame) && !is_filling(r, frame);
  };
  while (count < most && goes_on(first + count)) ++count;
  return count;
}

namespace {

void note_brought(region_slot& r, std::uint64_t first, std::uint64_t frames) noexcept {
  r.first_brought = std::min(r.first_brought, first);
  r.end_brought = std::max(r.end_brought, first + frames);
}

}  // namespace

bool frames::try_fill(region_slot& r, std::uint64_t first, std::uint64_t most) noexcept {
  const std::uint64_t frames = away_from(r, first, std::min(most, r.layout.frames_fitting(first, most_by_the_driver)));
  const std::uint64_t offset = r.layout.offset_of_frame(first);
  if (frames == 0) return false;
  r.dumped.add(*r.memory, offset, r.layout.bytes_of_frames(first, frames));
  const std::span<std::byte> into{r.memory->system_view() + offset, r.layout.bytes_of_frames(first, frames)};
  const bool saved = r.frames.data()[first].saved != 0;
  count_in(r, first, frames);  // before: what nobody holds is given back by whoever held it
  if ((saved ? r.store->try_fill(r.position + offset, into) : r.backing->try_fill(offset, into)) != 0) {
    for (std::uint64_t frame = first; frame < first + frames; ++frame) forget_frame(r, frame);
    return false;
  }
  if (!saved) {
    clear_beyond_end(r, first, frames);
    note_brought(r, first, frames);
  }
  for (std::uint64_t frame = first; frame < first + frames; ++frame) list(r, frame, own);
  count.read += frames;
  count.most_bytes = std::max(count.most_bytes, used_);
  return true;
}

void frames::begin_fill(region_slot& r, std::uint64_t first, std::uint64_t most) noexcept {
  const std::uint64_t frames = away_from(r, first, std::min(most, r.layout.frames_fitting(first, io_bytes)));
  if (frames == 0) return;
  r.dumped.add(*r.memory, r.layout.offset_of_frame(first), r.layout.bytes_of_frames(first, frames));
  for (std::uint64_t frame = first; frame < first + frames; ++frame) r.frames.data()[frame].filling = 1;
  count_in(r, first, frames);
  count.most_bytes = std::max(count.most_bytes, used_);
  if (r.frames.data()[first].saved == 0) note_brought(r, first, frames);
  begin(store::io::kind::fill, r, first, frames, r.frames.data()[first].saved == 0);
}

void frames::begin_flush(region_slot& r, std::uint64_t first, std::uint64_t frames) noexcept {
  frame_state* const f = r.frames.data();
  for (std::uint64_t frame = first, end = first; frame < first + frames; frame = end) {
    while (end < first + frames && f[end].saved == f[frame].saved) ++end;
    if (f[frame].saved != 0) {
      give_back(r, frame, end - frame);
      continue;
    }
    for (std::uint64_t next = frame; next < end; ++next) {
      f[next].saved = f[next].flushing = 1;
      f[next].used = 0;
    }
    leaving_ += r.layout.bytes_of_frames(frame, end - frame);
    begin(store::io::kind::flush, r, frame, end - frame, false);
  }
}

frame_io& frames::new_io() noexcept {
  std::size_t free = 0;
  while (free < ios_.size() && ios_[free]->under_way) ++free;
  if (free == ios_.size()) ios_.push_back(base::make_fault<frame_io>());
  return *ios_[free];
}

frame_io& frames::new_staged(store::io::kind what, region_slot& r, std::uint64_t turn) noexcept {
  frame_io& io = new_io();
  io.what = what;
  io.of = r.backing.get();
  io.region = &r;
  io.memory = nullptr;
  io.at = io.bytes = io.first = io.count = 0;
  io.error = 0;
  io.turn = turn;
  io.under_way = io.staged = true;
  io.settled = io.told = io.stale = false;
  ++staged_count_;
  return io;
}

/// Nobody waits for the disk, and nothing tears: threads go on writing what has been copied. What is beyond the end is
/// not kept: nobody writes it.
void frames::begin_staged_flush(region_slot& r, std::uint64_t first, std::uint64_t frames,
                                std::uint64_t turn) noexcept {
  const std::uint64_t offset = r.layout.offset_of_frame(first), bytes = r.layout.bytes_of_frames(first, frames);
  frame_io& io = new_staged(store::io::kind::flush, r, turn);
  io.memory = static_cast<std::byte*>(base::fault_allocate(bytes));
  base::copy_words(io.memory, r.memory->system_view() + offset, bytes);
  staged_ += bytes;
  io.at = offset;
  io.bytes = bytes;
  io.first = first;
  io.count = frames;
  crew_->begin(io);
}

void frames::begin_staged(store::io::kind what, region_slot& r, std::uint64_t at, std::uint64_t turn) noexcept {
  frame_io& io = new_staged(what, r, turn);
  io.at = at;
  crew_->begin(io);
}

bool frames::is_flushing(const region_slot& r) const noexcept {
  return std::any_of(ios_.begin(), ios_.end(), [&](const auto& io) {
    return io->under_way && io->staged && io->what == store::io::kind::flush && io->region == &r;
  });
}

/// It is not under way any more.
void frames::end_io(frame_io& done) noexcept {
  if (std::exchange(done.staged, false)) --staged_count_;
  const auto found = std::find(retired_.begin(), retired_.end(), done.of);
  if (found == retired_.end() || done.what == store::io::kind::close) return;
  store::store* const which = *found;
  retired_.erase(found);
  retire(std::unique_ptr<store::store>(which));
}

void frames::retire(std::unique_ptr<store::store> which) noexcept {
  if (which == nullptr) return;
  store::store* const of = which.release();
  if (std::any_of(ios_.begin(), ios_.end(), [&](const auto& io) { return io->under_way && io->of == of; }))
    return retired_.push_back(of);
  frame_io& io = new_io();
  io.what = store::io::kind::close;
  io.of = of;
  io.region = nullptr;
  io.memory = nullptr;
  io.at = io.bytes = io.first = io.count = 0;
  io.under_way = io.staged = io.told = true;
  io.settled = io.stale = false;
  ++staged_count_;
  crew_->begin(io);
}

void frames::begin(store::io::kind what, region_slot& r, std::uint64_t first, std::uint64_t frames,
                   bool backed) noexcept {
  frame_io& io = new_io();
  const std::uint64_t offset = r.layout.offset_of_frame(first);
  io.what = what;
  io.of = backed ? r.backing.get() : r.store;
  io.at = backed ? offset : r.position + offset;
  io.memory = r.memory->system_view() + offset;
  io.bytes = r.layout.bytes_of_frames(first, frames);
  io.region = &r;
  io.first = first;
  io.count = frames;
  io.under_way = true;
  io.settled = io.told = io.staged = io.stale = io.joined = false;
  crew_->begin(io);
}

void frames::settle(frame_io& done) noexcept {
  if (std::exchange(done.settled, true)) return;
  if (done.staged) {
    staged_ -= done.bytes;
    if (done.memory == nullptr) return;
    return base::fault_free(std::exchange(done.memory, nullptr), done.bytes);
  }
  if (done.what == store::io::kind::flush) return settle_flush(done);
  region_slot& r = *done.region;
  if (done.error != 0 || done.stale) {
    if (done.of != r.backing.get() && !done.stale) lost(r, done.first, done.error);
    for (std::uint64_t frame = done.first; frame < done.first + done.count; ++frame) {
      r.frames.data()[frame].filling = 0;
      forget_frame(r, frame);
    }
    return;
  }
  if (done.of == r.backing.get()) clear_beyond_end(r, done.first, done.count);
  for (std::uint64_t frame = done.first; frame < done.first + done.count; ++frame) {
    r.frames.data()[frame].filling = 0;
    list(r, frame, own);
  }
  count.read += done.count;
}

/// What was used meanwhile stays: it may be mapped, and have changed. So does what must not move now, and what could
/// not be written.
void frames::settle_flush(frame_io& done) noexcept {
  region_slot& r = *done.region;
  leaving_ -= done.bytes;
  if (done.error == 0) count.written += done.count;
  std::uint64_t first = done.first;  // of those that leave, up to `frame`
  for (std::uint64_t frame = done.first; frame < done.first + done.count; ++frame) {
    frame_state& f = r.frames.data()[frame];
    f.flushing = 0;
    if (done.error != 0) f.saved = 0;
    if (done.error == 0 && f.used == 0 && !r.change.frozen) continue;
    enqueue(r, frame, own);
    if (first != frame) give_back(r, first, frame - first);
    first = frame + 1;
  }
  if (const std::uint64_t end = done.first + done.count; first != end) give_back(r, first, end - first);
}

frames::missed frames::finish_fill(region_slot& r, std::uint64_t frame) noexcept {
  for (const auto& io : ios_) {
    const bool has_it = io->under_way && !io->settled && io->region == &r && frame - io->first < io->count;
    if (!has_it || io->what != store::io::kind::fill) continue;
    crew_->finish(*io);
    settle(*io);  // take_done() finds it, for all that waits for its frames
    if (io->stale || (io->error != 0 && io->joined)) return {io->count, 0};
    return {io->error != 0 ? io->count : 0, io->error};
  }
  return {};
}

void frames::join_fill(const region_slot& r, std::uint64_t frame) noexcept {
  for (const auto& io : ios_) {
    const bool has_it = io->under_way && !io->settled && io->region == &r && frame - io->first < io->count;
    if (has_it && io->what == store::io::kind::fill) io->joined = true;
  }
}

void frames::trim(region_slot& r, std::uint64_t frame) noexcept {
  frame_state& f = r.frames.data()[frame];
  if (f.resident == 0) return;  // it is zero there when it comes
  clear_beyond_end(r, frame, 1);
  f.used = 1;
  f.saved = 0;
}

/// What is on its way was read before: it is not what is wanted. What has left for the page-out file is not either.
void frames::leave_wherever(region_slot& r, std::uint64_t frame) noexcept {
  frame_state& f = r.frames.data()[frame];
  if (f.filling != 0) {
    for (const auto& io : ios_) {
      const bool has_it =
          io->under_way && !io->settled && !io->staged && io->region == &r && frame - io->first < io->count;
      if (has_it && io->what == store::io::kind::fill) io->stale = true;
    }
  }
  if (f.flushing != 0) f.used = 1;  // settle_flush() leaves it alone
  if (f.resident != 0 && f.flushing == 0) return leave_to_backing(r, frame, 1);
  if (f.resident == 0) f.saved = f.taken = 0;
}

frame_io* frames::finish_one(const region_slot& r) noexcept {
  const auto found = std::find_if(ios_.begin(), ios_.end(), [&](const auto& io) {
    return io->under_way && !io->settled && !io->staged && io->region == &r;
  });
  if (found == ios_.end()) return nullptr;
  crew_->finish(**found);
  settle(**found);
  return found->get();
}

bool frames::any_under_way(const region_slot& r) const noexcept {
  return std::any_of(ios_.begin(), ios_.end(),
                     [&](const auto& io) { return io->under_way && !io->settled && !io->staged && io->region == &r; });
}

bool frames::is_to_be_told(const region_slot& r, std::uint64_t frame) const noexcept {
  const auto of_it = [&](const auto& io) {
    return io->under_way && io->settled && !io->told && io->region == &r && frame - io->first < io->count;
  };
  return std::any_of(ios_.begin(), ios_.end(), of_it);
}

bool frames::any_under_way() const noexcept {
  return std::any_of(ios_.begin(), ios_.end(), [](const auto& io) { return io->under_way; });
}

}  // namespace quire::core
