// SPDX-License-Identifier: BSD-3-Clause
// The memory that the units of a node take, and what has left it (page-out, KOAN). Counts frames and holds them against
// QUIRE_MEMORY_LIMIT; brings content back from its store (src/store) before anybody looks at it. Which frames go, and
// where to, is page_out.cpp's. Without a limit all of this costs one comparison. Driver's thread only; see page_out.cpp
// for the idea.
//
// A frame is a unit, or a page with all its units (minipages). It is in memory as a whole, or in its store as a whole.
// So content of one unit that comes for a frame that is away brings the frame back first: the other units' content is
// there.
//
// Stores are read and written by the node's crew (store/io.hpp). A frame on its way to its store stays what it is, and
// may be used meanwhile; if it was, it stays. A frame that is being filled is used by nobody.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/fault_heap.hpp"
#include "core/frame_queue.hpp"
#include "core/region_slot.hpp"
#include "pool/host_holds.hpp"
#include "store/io.hpp"

namespace quire::core {

enum class content : std::uint8_t;

/// Neighbouring frames on their way between memory and their store.
struct frame_io : store::io {
  region_slot* region = nullptr;
  std::uint64_t first = 0, count = 0;
  bool under_way = false;
  bool settled = false;  ///< done, and the frames' states say so
  bool told = false;     ///< and so does whoever looks for it: it need not be told when take_done() finds it
  bool staged =
      false;  ///< a flush to the region's backing, of a copy of the content, or a sync: frames know nothing of it
  bool joined = false;  ///< a fill: somebody asks for the content since it began; if it fails, that is older than the
                        ///< question, and it is asked for again
  bool stale = false;   ///< a fill: what it brings is not to be used, as it was dropped meanwhile; who still waits has
                        ///< it asked for again
  std::uint64_t turn = 0;  ///< staged: store_book::turn when it began (stored_units.hpp)
};

class frames {
 public:
  struct counters {
    std::uint64_t given = 0;       ///< taken over by other nodes, because this one asked them to
    std::uint64_t written = 0;     ///< to stores
    std::uint64_t read = 0;        ///< back from them
    std::uint64_t most_bytes = 0;  ///< in memory at a time
  };

  frames() = default;
  frames(const frames&) = delete;
  frames& operator=(const frames&) = delete;
  ~frames() {
    for (const store::store* const left : retired_) delete left;  // the crew has stopped
  }
  /// `limit` in bytes, of all content; 0: none. `stored_limit`: then of the content of regions with a store of their
  /// own. `crew` reads and writes.
  /// `holds`: the table of host_holds, where frames are shared; null: they are not.
  void open(model::node_id self, std::uint64_t limit, std::uint64_t stored_limit, store::crew& crew,
            std::byte* holds) noexcept {
    self_ = self;
    holds_.open(holds, limit);
    limit_.store(limit, std::memory_order_relaxed);
    limits_all_ = limit != 0;
    stored_limit_ = stored_limit;
    tracks_any_.store(limit != 0, std::memory_order_relaxed);
    crew_ = &crew;
  }
  /// What is in memory of some region.
  [[nodiscard]] bool limited() const noexcept { return limit() != 0; }
  /// Of all regions: then what has no room at any node goes to a file.
  [[nodiscard]] bool limits_all() const noexcept { return limits_all_; }
  /// Of this one.
  [[nodiscard]] bool limits(const region_slot& r) const noexcept { return limited() && r.tracks_frames(); }
  /// Frames of some region have states (region_slot::tracks_frames()).
  [[nodiscard]] bool tracks_any() const noexcept { return tracks_any_.load(std::memory_order_relaxed); }
  /// There is a region with a store of its own, from now on. Application thread.
  void note_backing() noexcept {
    if (!limits_all_) limit_.store(stored_limit_, std::memory_order_relaxed);
    tracks_any_.store(true, std::memory_order_relaxed);
  }
  /// As bring_frames() (content.hpp), of a region whose frames have states.
  void bring(region_slot& r, std::uint64_t first, std::uint64_t count, content how) noexcept;

  // Content on its way (frame_io.cpp).
  /// Content of this node that is neither in memory nor on its way from the store: brings it at once, if that takes
  /// microseconds. Frames from `first` on, not more than `most`. True if that one has come.
  [[nodiscard]] bool try_fill(region_slot& r, std::uint64_t first, std::uint64_t most) noexcept;
  /// The same content is on its way from now on.
  void begin_fill(region_slot& r, std::uint64_t first, std::uint64_t most) noexcept;
  /// Frames that nobody can change now go to the store, unless they are there; then they are given back.
  void begin_flush(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept;
  /// f(io) for each that is done, when the frames' states say so.
  /// Where `told`, somebody knows already.
  template <class F>
  bool take_done(F&& f) noexcept {
    bool any = false;
    for (store::io* o = crew_->take_done(); o != nullptr; any = true) {
      frame_io& done = static_cast<frame_io&>(*std::exchange(o, o->next));
      settle(done);
      if (!done.told) f(done);
      done.under_way = false;
      end_io(done);
    }
    return any;
  }
  /// How many frames could not be had together, and why.
  struct missed {
    std::uint64_t count = 0;  ///< 0: they have come
    int error = 0;  ///< errno of the backing; 0: it is to be asked again, as it was dropped or joined meanwhile
  };
  /// The frame's content is on its way from the store. It is here when this returns, with all that comes along, or has
  /// been missed.
  missed finish_fill(region_slot& r, std::uint64_t frame) noexcept;
  /// Its content is on its way, and somebody else asks for it.
  void join_fill(const region_slot& r, std::uint64_t frame) noexcept;
  /// Copies of the region's content are on their way to its backing.
  [[nodiscard]] bool is_flushing(const region_slot& r) const noexcept;
  /// Waits for one I/O of the region's frames that is under way, and settles it: null if there is none. What is staged
  /// ends by itself.
  frame_io* finish_one(const region_slot& r) noexcept;
  /// A copy of what is in these frames goes to the region's backing, as far as that has an end behind it. `turn`: as
  /// the I/O's.
  void begin_staged_flush(region_slot& r, std::uint64_t first, std::uint64_t count, std::uint64_t turn) noexcept;
  /// What the backing has is to outlive this process (sync), or its content ends at `at` from now on (resize).
  void begin_staged(store::io::kind what, region_slot& r, std::uint64_t at, std::uint64_t turn) noexcept;
  /// The backing has what is in these frames, which threads cannot use now: they are given back.
  void leave_to_backing(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
    for (std::uint64_t frame = first; frame < first + count; ++frame)
      r.frames.data()[frame].saved = r.frames.data()[frame].taken = 0;
    give_back(r, first, count);
  }
  /// The same of a frame that may be anywhere: in memory, in the page-out file, on its way from a store.
  void leave_wherever(region_slot& r, std::uint64_t frame) noexcept;
  /// What is in memory of a frame that is partly beyond the end of the content, or all of it, is zero there.
  void trim(region_slot& r, std::uint64_t frame) noexcept;
  /// A store that kept a region which has gone is closed, when nothing of it is under way.
  void retire(std::unique_ptr<store::store> which) noexcept;
  /// Bytes of copies that are on their way.
  [[nodiscard]] std::uint64_t staged() const noexcept { return staged_; }
  /// Copies are on their way, or stores make last what they have. Whoever waits for memory waits for that.
  [[nodiscard]] bool any_staged() const noexcept { return staged_count_ != 0; }
  /// Some content of the region is on its way.
  [[nodiscard]] bool any_under_way(const region_slot& r) const noexcept;
  [[nodiscard]] bool any_under_way() const noexcept;
  /// A step has waited for it: who else waits for its content is told when the crew has given it back.
  [[nodiscard]] bool is_to_be_told(const region_slot& r, std::uint64_t frame) const noexcept;
  /// It is in memory, with its content.
  [[nodiscard]] bool is_here(const region_slot& r, std::uint64_t frame) const noexcept {
    return r.frames.data()[frame].resident != 0;
  }
  /// Its content, if this node has it, is in the store only, or on its way from there.
  [[nodiscard]] bool is_away(const region_slot& r, std::uint64_t frame) const noexcept {
    const frame_state& f = r.frames.data()[frame];
    return f.resident == 0 && (f.saved != 0 || is_backed(r, frame));
  }
  /// Its content is in the region's backing alone: of a unit that this node manages.
  [[nodiscard]] bool is_backed(const region_slot& r, std::uint64_t frame) const noexcept {
    if (r.backing == nullptr || r.frames.data()[frame].taken != 0) return false;
    return r.machine->authority_of(r.layout.units_of(frame).first) == self_;
  }
  [[nodiscard]] bool is_filling(const region_slot& r, std::uint64_t frame) const noexcept {
    return r.frames.data()[frame].filling != 0;
  }
  /// Some unit of it has content here, in memory or not.
  [[nodiscard]] bool has_content(const region_slot& r, std::uint64_t frame) const noexcept {
    return any_unit(r, frame, [&](std::uint64_t unit) { return r.machine->has_content(unit); });
  }
  /// Whether `what` holds of a unit of the frame.
  template <class Predicate>
  [[nodiscard]] static bool any_unit(const region_slot& r, std::uint64_t frame, Predicate&& what) noexcept {
    const unit_range all = r.layout.units_of(frame);
    for (std::uint64_t unit = all.first; unit < all.end && r.bytes_of(unit) != 0;
         ++unit) {  // numbers that a page does not use come last
      if (what(unit)) return true;
    }
    return false;
  }

  /// Of a unit, in its store.
  [[nodiscard]] std::uint64_t position_of(const region_slot& r, std::uint64_t unit) const noexcept {
    return r.position + r.layout.offset_of(unit);
  }

  // Checkpoints: content that is looked at, or comes to be, without a frame.
  [[nodiscard]] bool in_memory(const region_slot& r, std::uint64_t unit) const noexcept {
    return !r.tracks_frames() || !is_away(r, r.layout.frame_of(unit));
  }
  /// 0 or errno. Any thread, while nobody can change it.
  [[nodiscard]] int look(const region_slot& r, std::uint64_t first, std::span<std::byte> into) const noexcept {
    return r.store->fill(position_of(r, first), into);
  }
  /// To the store, of units whose frames have not been in memory. 0 or errno; then the driver is to say deposited().
  /// Any thread.
  [[nodiscard]] int deposit(const region_slot& r, std::uint64_t first, std::span<const std::byte> from) const noexcept {
    return r.store->flush(position_of(r, first), from);
  }
  void deposited(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept;

  /// Whether a message may still read the frame, or write it.
  [[nodiscard]] bool is_moving(const region_slot& r, std::uint64_t frame) const noexcept {
    const frame_state& f = r.frames.data()[frame];
    return f.landing != 0 || f.sent == period_ || f.sent == before_;
  }
  /// Threads are let into these units now: until some others were let in they keep their frames. Else a thread might
  /// fault for ever on the only unit that can leave.
  void note_let_in(const region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
    if (!limited()) return;
    const std::uint64_t few =
        r.layout.fitting(first, limit() / 128);  // a window of read-ahead may go: threads come for its first
    const let_in now{&r, r.layout.frames_of(first, std::min(count, few))};
    let_in& last = let_in_[last_let_in_ % let_in_.size()];
    if (last.region == &r && last.frames.first == now.frames.first && last.frames.end == now.frames.end)
      return;  // units of one page come one by one
    let_in_[++last_let_in_ % let_in_.size()] = now;
  }
  [[nodiscard]] bool was_let_in(const region_slot& r, std::uint64_t frame) const noexcept {
    return std::any_of(let_in_.begin(), let_in_.end(),
                       [&](const let_in& l) { return l.region == &r && frame - l.frames.first < l.frames.count(); });
  }
  /// The transport has begun a new period of sending: what was sent before the last has left.
  void on_period() noexcept {
    before_ = period_;
    period_ = static_cast<std::uint8_t>(period_ % 31 + 1);
  }

  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
  /// Bytes that may come from a store before anybody looks at them.
  [[nodiscard]] std::uint64_t most_ahead() const noexcept {
    constexpr std::uint64_t usual = 1u << 20;
    return limits_all_ ? limit() / 16 : limited() ? std::min(limit() / 16, usual) : usual;
  }
  [[nodiscard]] std::uint64_t used() const noexcept { return used_; }
  /// Of what is in memory, what is on its way to stores and leaves when it is there.
  [[nodiscard]] std::uint64_t leaving() const noexcept { return leaving_; }
  /// More has to leave. Where nodes share frames, what one does not take others may, until all together take too much.
  [[nodiscard]] bool over() const noexcept {
    return used_ - leaving_ > limit() && limited() && (!holds_.any() || is_host_over(leaving_));
  }
  /// It is more than the limit by a `part`th of it.
  [[nodiscard]] bool is_over_by(std::uint64_t part) const noexcept {
    return used_ > limit() + limit() / part && (!holds_.any() || is_host_over(0));
  }
  /// Other nodes of the host take more than their share, and this one needs its own.
  [[nodiscard]] bool others_are_over() const noexcept { return holds_.any() && used_ <= limit() && is_host_over(0); }
  /// Frames are shared with other nodes of the host (pool/host_holds.hpp).
  [[nodiscard]] bool shares() const noexcept { return holds_.any(); }
  [[nodiscard]] const pool::host_holds& holds() const noexcept { return holds_; }
  /// This region's are.
  [[nodiscard]] bool shares(const region_slot& r) const noexcept {
    return holds_.any() && r.tracks_frames() && r.memory->of_host();
  }
  /// The region's frames, which were shared, are this node's own now.
  void leave_host(region_slot& r) noexcept;
  /// What this node could take for others, bytes; a part of the limit stays its own.
  [[nodiscard]] std::uint64_t room() const noexcept;
  /// Gives frames back to the system: their content means nothing, nor does what the store has of it.
  void drop(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
    for (std::uint64_t frame = first; frame < first + count; ++frame) r.frames.data()[frame].saved = 0;
    give_back(r, first, count);
  }
  /// The region goes: none of it is in memory, nor in the store.
  void forget(region_slot& r) noexcept;
  /// A frame that is in memory, and in nobody's hands, may be chosen from now on.
  void enqueue(region_slot& r, std::uint64_t frame, frame_queue& queue) noexcept;
  /// An entry of it has been taken from a queue. False: nobody may choose it, as the frame has left memory meanwhile.
  [[nodiscard]] bool dequeued(region_slot& r, std::uint64_t frame) noexcept;
  /// Nobody chooses it any more. Its entry stays, and is passed over: looking for it would take as long as the queue
  /// is.
  void unlist(region_slot& r, std::uint64_t frame) noexcept;

  /// Frames in memory: those whose content came from elsewhere, and all others. Each is in one of them, or in nobody's
  /// hands but page_out.cpp's.
  frame_queue came, own;
  counters count;

 private:
  [[nodiscard]] static bool is_all_of(const region_slot& r, std::uint64_t frame, std::uint64_t first,
                                      std::uint64_t units) noexcept;
  void enter(region_slot& r, std::uint64_t frame, frame_queue& queue) noexcept;
  void read_back(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept;
  [[noreturn]] void lost(const region_slot& r, std::uint64_t first, int error) noexcept;
  [[nodiscard]] std::uint64_t away_from(const region_slot& r, std::uint64_t first, std::uint64_t most) const noexcept;
  void begin(store::io::kind what, region_slot& r, std::uint64_t first, std::uint64_t count, bool backed) noexcept;
  [[nodiscard]] frame_io& new_io() noexcept;
  void settle(frame_io& done) noexcept;
  void end_io(frame_io& done) noexcept;
  [[nodiscard]] frame_io& new_staged(store::io::kind what, region_slot& r, std::uint64_t turn) noexcept;
  void clear_beyond_end(const region_slot& r, std::uint64_t frame, std::uint64_t count) const noexcept;
  void settle_flush(frame_io& done) noexcept;
  void give_back(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept;
  void list(region_slot& r, std::uint64_t frame, frame_queue& queue) noexcept;
  void count_in(const region_slot& r, std::uint64_t first, std::uint64_t count) noexcept;
  void forget_frame(const region_slot& r, std::uint64_t frame) noexcept;
  [[nodiscard]] int let_go(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept;
  [[nodiscard]] std::uint64_t position_of_frame(const region_slot& r, std::uint64_t frame) const noexcept {
    return r.position + r.layout.offset_of_frame(frame);
  }
  [[nodiscard]] bool is_host_over(std::uint64_t leaving) const noexcept {
    return holds_.used() > holds_.limit() + leaving;
  }

  struct let_in {
    const region_slot* region = nullptr;
    frame_range frames{};
  };
  store::crew* crew_ = nullptr;
  base::fault_vector<base::fault_ptr<frame_io>> ios_{};  ///< some are under way
  model::node_id self_{};
  pool::host_holds holds_{};
  std::atomic<bool> tracks_any_{false};
  std::atomic<std::uint64_t> limit_{0};
  std::uint64_t stored_limit_ =
      0;  ///< what `limit_` is where not all is limited, once there is a region with a store of its own
  bool limits_all_ = false;
  std::uint64_t used_ = 0, leaving_ = 0, staged_ = 0, staged_count_ = 0;
  base::fault_vector<store::store*> retired_{};  ///< something of them is under way
  std::array<let_in, 8> let_in_{};               ///< the last ones
  std::size_t last_let_in_ = 0;
  std::uint8_t period_ = 2, before_ = 1;  ///< of sending, 1 to 31: what was sent in another has left
};

}  // namespace quire::core
