// SPDX-License-Identifier: BSD-3-Clause
// A region as the engine sees it: where it lies, which mechanisms it uses, its protocol machine and tables.
//
// Fault handlers find slots without a lock. That is right though regions go: a slot never moves, and its memory never
// goes before the end. A slot whose region goes (region_remover.cpp) is emptied by the driver, and kept for the next
// region of its number. A thread may still have its address then: all that such a thread does with it is to read plain
// numbers, and to ask the driver. It asks by a region_ref, which has the slot's turn as of the moment when it was
// found. The driver, who alone empties and fills slots, compares the turn before it looks at anything else, and refuses
// what is of another turn.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/fault_heap.hpp"
#include "detect/detector.hpp"
#include "core/block.hpp"
#include "core/closed_pages.hpp"
#include "core/minipages/groups.hpp"
#include "core/minipages/minipages.hpp"
#include "core/minipages/view_states.hpp"
#include "core/unit_layout.hpp"
#include "core/view_map.hpp"
#include "os/memory.hpp"
#include "pool/pool.hpp"
#include "model/machine.hpp"
#include "protocol/contract/abilities.hpp"
#include "protocol/contract/table_memory.hpp"
#include "store/store.hpp"

namespace quire::core {

/// What all nodes agree on about a region; plain data, travels in messages.
struct region_description {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::uint32_t unit_bytes = 4096;
  std::uint16_t id = 0;
  std::uint16_t home = 0;
  std::uint8_t placement = 0;
  std::uint8_t consistency = 0;
  std::uint8_t pool = 0;
  std::uint8_t detector = 0;
  std::uint8_t heap = 0;      ///< memory is allocated from it (region::registry)
  std::uint8_t store = 0;     ///< a row of the table of stores
  std::uint8_t layout = 0;    ///< and of layouts
  std::uint8_t orders = 0;    ///< as quire_region_options: its units carry release consistency along (core::orders())
  std::uint32_t life = 0;     ///< regions that had gone when it was made: with `id` it names the region for ever
  std::uint16_t views = 0;    ///< fine ones, each of a unit a page (MultiView)
  std::uint16_t chunk = 0;    ///< of a heap with them: allocations a unit; 0: 1
  std::uint8_t grouping = 0;  ///< core::grouping
  std::uint8_t code = 0;      ///< threads run what is in it, and none writes it (src/code)
  std::uint8_t copies = 0;    ///< its views can show private copies: it was made with transactional consistency
  std::uint8_t placed = 0;    ///< its addresses are in the room of another region
  std::uint16_t backing =
      0;  ///< the number under which nodes have the store that keeps its content (stored_units.hpp); 0: none does
  /// Addresses behind the region that are its own, too: a gap up to a granule, and from there on the room, where
  /// another region may be placed. The content of both is no matter of this region.
  std::uint64_t gap_bytes = 0, room_bytes = 0;
};
/// The handle that programs have (quire_region::id).
[[nodiscard]] inline std::uint64_t handle_of(const region_description& d) noexcept {
  return d.id | std::uint64_t{d.life} << 16;
}

[[nodiscard]] inline view_map views_of(const region_description& d) noexcept { return {d.bytes, d.views}; }

/// Which parts of a region have been used on this node: what holds content lies in them. So a core file and a
/// checkpoint look at those and no others.
class dumped_parts {
 public:
  static constexpr unsigned part_shift = 26;  // 64 MiB
  void cover(std::uint64_t bytes) { known_.assign((bytes >> part_shift) + 1, false); }
  /// Memory of `memory` is used from now on. Driver's thread; a system call once a part.
  void add(pool::pool& memory, std::uint64_t offset, std::uint64_t bytes) noexcept {
    for (std::uint64_t part = offset >> part_shift; part <= (offset + bytes - 1) >> part_shift; ++part) {
      if (known_[part]) continue;
      known_[part] = true;
      const std::uint64_t first = part << part_shift;
      const std::uint64_t length = std::min(std::uint64_t{1} << part_shift, memory.bytes() - first);
      memory.dump(first, length);
    }
  }
  /// Calls f(first, bytes) for each part in use of a region of `total` bytes.
  template <class F>
  void for_each(std::uint64_t total, F&& f) const {
    for (std::uint64_t part = 0; part < known_.size(); ++part) {
      const std::uint64_t first = part << part_shift;
      if (known_[part] && first < total) f(first, std::min(std::uint64_t{1} << part_shift, total - first));
    }
  }
  [[nodiscard]] bool has(std::uint64_t offset) const noexcept { return known_[offset >> part_shift]; }

 private:
  std::vector<bool> known_;
};

/// Of a frame (unit_layout::frame_of()), where memory is limited (frames.hpp).
struct frame_state {
  std::uint32_t resident : 1 = 0;  ///< it is in memory, with its content
  std::uint32_t saved : 1 = 0;     ///< the store has its content, or gets it by the flush that is under way
  std::uint32_t landing : 9 = 0;   ///< messages that are being received into it: one for each of its units, at most
  std::uint32_t sent : 5 = 0;      ///< when its content was sent last: see frames::period_
  std::uint32_t flushing : 1 = 0;  ///< it is on its way to the store
  std::uint32_t used : 1 = 0;      ///< and was used since
  std::uint32_t filling : 1 = 0;   ///< it is in memory, and its content is on its way from the store
  std::uint32_t taken : 1 = 0;     ///< its content is not in the region's backing alone, as it was at first
  std::uint32_t queued : 1 = 0;    ///< a queue of frames has an entry of it
  std::uint32_t listed : 1 = 0;    ///< which counts: else the frame has left, and who comes to the entry passes it over
  std::uint32_t in_came : 1 = 0;   ///< that queue is frames::came, not frames::own
};

class op;

/// The machine that decides for a region. Set by the driver; others may look.
class machine_link {
 public:
  [[nodiscard]] model::machine* get() const noexcept { return at_.load(std::memory_order_acquire); }
  [[nodiscard]] model::machine* operator->() const noexcept { return get(); }
  [[nodiscard]] model::machine& operator*() const noexcept { return *get(); }
  /// What goes with its protocol.
  [[nodiscard]] const protocol::abilities& can() const noexcept { return *can_.load(std::memory_order_acquire); }
  void set(model::machine* machine, const protocol::abilities& can) noexcept {
    can_.store(&can, std::memory_order_release);
    at_.store(machine, std::memory_order_release);
  }

 private:
  std::atomic<model::machine*> at_{nullptr};
  std::atomic<const protocol::abilities*> can_{nullptr};
};

/// Why what the threads of a region ask for waits.
enum class freeze : std::uint8_t {
  change = 1,    ///< its consistency changes, or a block begins or ends
  hold = 2,      ///< a checkpoint holds content still
  recovery = 4,  ///< a node has died
  end = 8,       ///< it is about to go
};
class freezes {
 public:
  void add(freeze why) noexcept { bits_ |= static_cast<std::uint8_t>(why); }
  void remove(freeze why) noexcept { bits_ &= static_cast<std::uint8_t>(~static_cast<unsigned>(why)); }
  [[nodiscard]] bool has(freeze why) const noexcept { return (bits_ & static_cast<std::uint8_t>(why)) != 0; }
  [[nodiscard]] explicit operator bool() const noexcept { return bits_ != 0; }

 private:
  std::uint8_t bits_ = 0;
};

/// While the consistency of a region changes, or it is about to go, what its threads ask for waits here (change.cpp).
/// Driver's thread.
struct change_state {
  /// Keeps an operation for later: the region is frozen.
  void park(op& o) noexcept;
  /// `o` waits no longer, if it did.
  void unpark(const op& o) noexcept;

  struct fault {
    std::uint64_t address = 0;
    bool write = false;
  };
  freezes frozen{};
  op* first = nullptr;  ///< operations to be executed afterwards, oldest first
  op* last = nullptr;
  base::fault_vector<fault> faults{};  ///< of threads that the kernel holds
  std::uint64_t calls = 0;             ///< of this node, under way: atomic operations, pushes
  std::uint64_t sent = 0;  ///< units in messages about units, those between calls and their replies left out
  std::uint64_t received = 0;
};

/// Memory for tables, by the system.
inline constexpr protocol::table_memory zeroes{os::map_table, os::unmap};

/// Where an access to a region has been.
struct accessed {
  enum class by : std::uint8_t {
    own_page,       ///< a page of addresses that shows the unit alone
    composed_page,  ///< a page of the natural view that shows several: `unit` is the first of them
    wrong_page,     ///< a page of a fine view, and at a byte that it is not there to show
  };
  std::uint64_t unit = 0;
  by page = by::own_page;
};

struct region_slot {
  region_description about;
  bool orders = false;  ///< what about.orders comes to in this job
  unit_layout layout;
  view_map views;
  /// Of layouts that are not uniform; those of regions that have gone, too, as a thread may be reading them.
  std::vector<std::unique_ptr<layout_body>> layout_parts;
  class minipages* minipages = nullptr;  ///< its layout, if it has units smaller than a page
  view_states states{zeroes};            ///< used where it has fine views
  groups together{zeroes};               ///< the same, if units of a page may come together
  closed_pages closed;
  std::unique_ptr<pool::pool> memory;
  std::atomic<std::uint64_t> system_base{0};  ///< its system view, for threads that must not look at `memory`
  detect::detector* detector = nullptr;       ///< shared by all regions of its kind
  dumped_parts dumped;
  protocol::table<frame_state> frames{zeroes};
  std::uint64_t position = 0;     ///< of its first byte in stores
  store::store* store = nullptr;  ///< where content is that has no frame; null where memory has no limit
  /// Keeps the content of units that this node manages, beyond the job: positions are offsets in the region. Null where
  /// it has none, or another node's.
  std::unique_ptr<store::store> backing;
  std::uint64_t first_brought = UINT64_MAX, end_brought = 0;  ///< frames that have come from `backing`, or are about
                                                              ///< to: perhaps of units that nobody has touched
  std::uint64_t end = UINT64_MAX;  ///< where the content ends that `backing` keeps: what is beyond is zero when it
                                   ///< comes, and is not written
  protocol::table<std::byte> twins{zeroes};  ///< as large as the region; used where a unit has a twin
  static constexpr std::size_t most_protocols = 16;
  /// By protocol, each made when the region first has its consistency. One of them is in charge.
  std::array<std::unique_ptr<model::machine>, most_protocols> made;
  machine_link machine;
  change_state change;
  std::atomic<std::uint32_t> turn{0};  ///< odd: the slot has a region; grows when one comes, and when it goes
  struct {
    std::atomic<std::uint64_t> faults{0}, writes{0}, ns{0};
  } waited;                               ///< by threads of this node, for units of the region
  base::fault_ptr<parallel_block> block;  ///< while a parallel block lasts

  /// Frames have states: memory is limited, or a store keeps the region's content.
  [[nodiscard]] bool tracks_frames() const noexcept { return frames.data() != nullptr; }
  /// The machine of this protocol, in charge or not; null if the region never had it.
  [[nodiscard]] model::machine* made_of(model::protocol_id id) const noexcept { return made[id.value()].get(); }
  /// What goes with its consistency. Any thread.
  [[nodiscard]] const protocol::abilities& can() const noexcept { return machine.can(); }
  [[nodiscard]] quire_consistency consistency() const noexcept {
    return static_cast<quire_consistency>(machine->protocol().value());
  }
  /// Its written units are found without faults.
  [[nodiscard]] bool scans() const noexcept { return detector->scans(); }
  /// Of an address in any view.
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const noexcept {
    return views.of(address - about.base).offset;
  }
  [[nodiscard]] std::uint64_t unit_of(std::uint64_t address) const noexcept {
    return layout.unit_of(offset_of(address));
  }
  /// Units that have a byte of a range of addresses of the region.
  [[nodiscard]] unit_range under(std::uint64_t address, std::uint64_t bytes) const noexcept {
    return layout.under(offset_of(address), bytes);
  }
  /// In the natural view.
  [[nodiscard]] std::uint64_t address_of(std::uint64_t unit) const noexcept {
    return about.base + layout.offset_of(unit);
  }
  [[nodiscard]] std::uint64_t natural(std::uint64_t address) const noexcept { return about.base + offset_of(address); }
  /// The same byte where its unit is shown alone.
  [[nodiscard]] std::uint64_t fine(std::uint64_t address) const noexcept {
    const std::uint64_t offset = offset_of(address);
    return about.base + views.distance({layout.view_of(layout.unit_of(offset)), offset});
  }
  [[nodiscard]] accessed access_at(std::uint64_t address) const noexcept {
    const auto [view, offset] = views.of(address - about.base);
    const std::uint64_t unit = layout.unit_of(offset);
    const unsigned shown = views.fine() == 0 ? 0 : layout.view_of(unit);
    if (view == shown) return {unit, accessed::by::own_page};
    if (view != 0) return {unit, accessed::by::wrong_page};
    return {layout.unit_of(offset - offset % view_map::page_bytes), accessed::by::composed_page};
  }
  /// Of a read by such a `wrong_page`: the unit that the page does show, if it begins or ends nearby. Functions of
  /// libraries read texts by vectors, from aligned addresses, and do not use what lies before and behind.
  [[nodiscard]] accessed beside(std::uint64_t address) const noexcept {
    constexpr std::uint64_t vector_bytes = 64;
    const auto [view, offset] = views.of(address - about.base);
    const std::uint64_t first = layout.unit_of(offset - offset % view_map::page_bytes);
    for (std::uint64_t unit = first; unit < first + layout.units_a_page(); ++unit) {
      if (layout.bytes_of(unit) == 0 || layout.view_of(unit) != view) continue;
      const std::uint64_t begins = layout.offset_of(unit), ends = layout.offset_of(unit + 1);
      if (offset + vector_bytes > begins && offset < ends + vector_bytes) return {unit, accessed::by::own_page};
    }
    return {layout.unit_of(offset), accessed::by::wrong_page};
  }
  /// Whether to bring or map the unit before anybody asks for it. Not what has no bytes, nor pages that are not divided
  /// yet: they may be, while what was asked for is on its way.
  [[nodiscard]] bool can_be_guessed(std::uint64_t unit) const noexcept {
    return views.fine() == 0 || (layout.bytes_of(unit) != 0 && layout.view_of(unit) != 0);
  }
  /// Bytes from an address on that can be used together: to the end of the region in the natural view, of the unit in a
  /// fine one; 0 where that does not show it.
  [[nodiscard]] std::uint64_t bytes_from(std::uint64_t address) const noexcept {
    const auto [view, offset] = views.of(address - about.base);
    if (view == 0) return about.bytes - offset;
    const std::uint64_t unit = layout.unit_of(offset);
    return layout.view_of(unit) == view ? layout.offset_of(unit + 1) - offset : 0;
  }
  /// Where threads see the unit, by a page that shows no other.
  [[nodiscard]] std::byte* application(std::uint64_t unit) const noexcept {
    return memory->application_view() +
           views.distance({views.fine() == 0 ? 0 : layout.view_of(unit), layout.offset_of(unit)});
  }
  [[nodiscard]] std::byte* system(std::uint64_t unit) const noexcept {
    return memory->system_view() + layout.offset_of(unit);
  }
  [[nodiscard]] std::byte* twin(std::uint64_t unit) const noexcept { return twins.data() + layout.offset_of(unit); }
  [[nodiscard]] std::size_t bytes_of(std::uint64_t unit) const noexcept { return layout.bytes_of(unit); }
  [[nodiscard]] std::size_t bytes_of(std::uint64_t first, std::uint64_t count) const noexcept {
    return layout.bytes_of(first, count);
  }
};

/// A region as a thread has found it. Any thread may have one for as long as it likes; what it leads to is that region
/// only if the driver says so.
class region_ref {
 public:
  region_ref() noexcept = default;
  region_ref(std::nullptr_t) noexcept {}
  region_ref(region_slot* slot) noexcept
      : slot_(slot), turn_(slot != nullptr ? slot->turn.load(std::memory_order_acquire) : 0) {}
  [[nodiscard]] region_slot* get() const noexcept { return slot_; }
  [[nodiscard]] region_slot* operator->() const noexcept { return slot_; }
  [[nodiscard]] region_slot& operator*() const noexcept { return *slot_; }
  operator region_slot*() const noexcept { return slot_; }
  /// Its slot is empty, or another region's. Driver's thread.
  [[nodiscard]] bool gone() const noexcept {
    return turn_ % 2 == 0 || slot_->turn.load(std::memory_order_relaxed) != turn_;
  }

 private:
  region_slot* slot_ = nullptr;
  std::uint32_t turn_ = 0;
};

/// Whether the region has the units that a message speaks of.
[[nodiscard]] inline bool lies_in(const region_slot& r, const model::message& m) noexcept {
  const std::uint64_t units = r.machine->units();
  return m.unit < units && m.count <= units - m.unit;
}

/// Finds the region of an address: the shared range is cut into granules, each of one region: 64 MiB, and less in a
/// range that would have few of them, down to 2 MiB. Beside the range lie the regions of memory that programs had
/// before (quire_region_adopt), in a list. Reading is lock-free and async-signal-safe.
class region_map {
 public:
  static constexpr std::size_t max_regions = 4096;

  void cover(std::uint64_t base, std::uint64_t bytes) {
    constexpr unsigned largest = 26, smallest = 21;
    constexpr std::uint64_t many = 1024;
    base_ = base;
    bytes_ = bytes;
    granule_shift_ = largest;
    while (granule_shift_ > smallest && bytes >> granule_shift_ < many) --granule_shift_;
    granules_ = std::make_unique<std::atomic<std::uint16_t>[]>((bytes >> granule_shift_) + 1);
    slots_ = std::make_unique<std::atomic<region_slot*>[]>(max_regions);
    empty_ = std::make_unique<std::atomic<region_slot*>[]>(max_regions);
  }
  /// The slot of a region; null if there is none of that number.
  [[nodiscard]] region_slot* slot(model::region_id id) const noexcept {
    return id.value() < max_regions ? slots_[id.value()].load(std::memory_order_acquire) : nullptr;
  }
  /// The region of a handle.
  [[nodiscard]] region_ref of_handle(std::uint64_t handle) const noexcept {
    const region_ref s = slot(model::region_id{static_cast<std::uint16_t>(handle)});
    return s != nullptr && handle_of(s->about) == handle ? s : nullptr;
  }
  /// Whether it is one of a region that has gone.
  [[nodiscard]] bool is_old(std::uint64_t handle) const noexcept {
    const auto id = static_cast<std::uint16_t>(handle);
    const std::uint64_t life = handle >> 16;
    if (id >= max_regions) return false;
    const region_slot* const s = slots_[id].load(std::memory_order_acquire);
    const region_slot* const had = empty_[id].load(std::memory_order_acquire);
    return s != nullptr ? life < s->about.life : had != nullptr && life <= had->about.life;
  }
  [[nodiscard]] region_ref find(std::uint64_t address) const noexcept {
    if (address - base_ >= bytes_) [[unlikely]]
      return find_adopted(address);
    const std::uint16_t tag = granules_[(address - base_) >> granule_shift_].load(std::memory_order_acquire);
    if (tag == 0) return nullptr;
    const region_ref s = slots_[tag - 1].load(std::memory_order_acquire);  // its turn is read before anything of it
    return s != nullptr && s->views.has(address - s->about.base) ? s : nullptr;
  }
  /// Regions of memory that programs had before lie outside of the range.
  [[nodiscard]] bool is_adopted(const region_description& d) const noexcept { return d.base - base_ >= bytes_; }
  [[nodiscard]] bool any_adopted() const noexcept { return adopted_.load(std::memory_order_acquire) != nullptr; }
  /// Some byte of a range outside is one of such a region.
  [[nodiscard]] bool meets_adopted(std::uint64_t base, std::uint64_t bytes) const noexcept {
    bool meets = false;
    for_each([&](const region_slot& r) {
      meets = meets || (is_adopted(r.about) && base < r.about.base + r.about.bytes && base + bytes > r.about.base);
    });
    return meets;
  }
  void publish(std::unique_ptr<region_slot> s) {
    region_slot* raw = s.release();
    raw->turn.fetch_add(1, std::memory_order_release);
    const std::size_t beyond = raw->about.id + std::size_t{1};
    if (end_.load(std::memory_order_relaxed) < beyond) end_.store(beyond, std::memory_order_release);
    slots_[raw->about.id].store(raw, std::memory_order_release);
    tag(*raw, static_cast<std::uint16_t>(raw->about.id + 1));
  }
  /// The region goes: nobody finds it any more, and who has found it does not get to it. Its slot is kept empty.
  void withdraw(region_slot& s) noexcept {
    tag(s, 0);
    slots_[s.about.id].store(nullptr, std::memory_order_release);
    s.turn.fetch_add(1, std::memory_order_release);
    empty_[s.about.id].store(&s, std::memory_order_release);
  }
  /// The empty slot of a number, or a new one: for publish(). What is taken and not published is given back by
  /// keep_empty().
  [[nodiscard]] std::unique_ptr<region_slot> take_empty(std::uint16_t id) {
    region_slot* const had = empty_[id].exchange(nullptr, std::memory_order_acq_rel);
    return had != nullptr ? std::unique_ptr<region_slot>(had) : std::make_unique<region_slot>();
  }
  void keep_empty(std::unique_ptr<region_slot> s, std::uint16_t id) noexcept {
    empty_[id].store(s.release(), std::memory_order_release);
  }
  /// What was at an address that no region has: of a region that has gone, its description. False if nothing is known.
  /// Any thread, fault context.
  [[nodiscard]] bool find_gone(std::uint64_t address, region_description& was) const noexcept {
    for (std::size_t i = 0; empty_ != nullptr && i < max_regions; ++i) {
      const region_slot* const s = empty_[i].load(std::memory_order_acquire);
      if (s == nullptr || address - s->about.base >= s->views.span()) continue;
      was = s->about;
      return true;
    }
    return false;
  }
  template <class F>
  void for_each(F&& f) const {
    const std::size_t end = end_.load(std::memory_order_acquire);
    for (std::size_t i = 0; slots_ != nullptr && i < end; ++i) {
      if (region_slot* s = slots_[i].load(std::memory_order_acquire); s != nullptr) f(*s);
    }
  }
  region_map() = default;
  region_map(const region_map&) = delete;
  region_map& operator=(const region_map&) = delete;
  ~region_map() {
    delete adopted_.load();
    for_each([](region_slot& s) { delete &s; });
    for (std::size_t i = 0; empty_ != nullptr && i < max_regions; ++i) delete empty_[i].load();
  }

  [[nodiscard]] std::uint64_t base() const noexcept { return base_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t granule_bytes() const noexcept { return std::uint64_t{1} << granule_shift_; }

 private:
  /// Adopted regions in the order of their addresses. There is a new list for each that comes; it may be read for as
  /// long as the map lives.
  struct adopted_list {
    std::vector<std::pair<std::uint64_t, region_slot*>> regions;  ///< by the first address
    std::unique_ptr<const adopted_list> before;
  };
  [[nodiscard]] region_ref find_adopted(std::uint64_t address) const noexcept {
    const adopted_list* const list = adopted_.load(std::memory_order_acquire);
    if (list == nullptr) return nullptr;
    const auto after =
        std::ranges::upper_bound(list->regions, address, {}, &std::pair<std::uint64_t, region_slot*>::first);
    if (after == list->regions.begin()) return nullptr;
    const region_ref s = std::prev(after)->second;
    return !s.gone() && address - s->about.base < s->about.bytes ? s : nullptr;
  }
  void add_adopted(region_slot& s) {
    auto list = std::make_unique<adopted_list>();
    if (const adopted_list* const now = adopted_.load(); now != nullptr) {
      std::ranges::copy_if(now->regions, std::back_inserter(list->regions),
                           [](const auto& r) { return !region_ref(r.second).gone(); });
    }
    const std::pair<std::uint64_t, region_slot*> one{s.about.base, &s};
    list->regions.insert(std::ranges::upper_bound(list->regions, one), one);
    list->before.reset(adopted_.load());
    adopted_.store(list.release(), std::memory_order_release);
  }
  void tag(region_slot& s, std::uint16_t with) {
    if (is_adopted(s.about)) {
      if (with != 0) add_adopted(s);
      return;
    }
    const std::uint64_t first = (s.about.base - base_) >> granule_shift_,
                        last = (s.about.base + s.views.span() - 1 - base_) >> granule_shift_;
    for (std::uint64_t g = first; g <= last; ++g) granules_[g].store(with, std::memory_order_release);
  }
  std::uint64_t base_ = 0, bytes_ = 0;
  unsigned granule_shift_ = 0;
  std::atomic<std::size_t> end_{0};  ///< no region has ever had this number, or a greater one
  std::unique_ptr<std::atomic<std::uint16_t>[]> granules_;
  std::unique_ptr<std::atomic<region_slot*>[]> slots_;
  std::atomic<const adopted_list*> adopted_{nullptr};
  std::unique_ptr<std::atomic<region_slot*>[]> empty_;  ///< slots whose region has gone
};

}  // namespace quire::core
