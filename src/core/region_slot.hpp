// SPDX-License-Identifier: BSD-3-Clause
// A region as the engine sees it: where it lies, which mechanisms it uses, its protocol machine and tables. Slots are added
// and never move or go until the end, so that fault handlers find them without a lock.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/fault_heap.hpp"
#include "detect/detector.hpp"
#include "core/block.hpp"
#include "core/unit_layout.hpp"
#include "os/memory.hpp"
#include "pool/pool.hpp"
#include "model/machine.hpp"
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
  std::uint8_t store = 0;  ///< a row of the table of stores
  std::uint8_t layout = 0;  ///< and of layouts
};

/// Which parts of a region have been used on this node: what holds content lies in them. So a core file and a checkpoint look at those
/// and no others.
class dumped_parts {
 public:
  static constexpr unsigned part_shift = 26;  // 64 MiB
  void cover(std::uint64_t bytes) { known_.resize((bytes >> part_shift) + 1); }
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

/// Of a unit, where memory is limited (frames.hpp).
struct frame_state {
  std::uint16_t resident : 1 = 0;  ///< has a frame with its content
  std::uint16_t saved : 1 = 0;     ///< the store has its content, or gets it by the flush that is under way
  std::uint16_t landing : 1 = 0;   ///< its content is being received
  std::uint16_t sent : 5 = 0;      ///< when its content was sent last: see frames::period_
  std::uint16_t flushing : 1 = 0;  ///< its frame is on its way to the store
  std::uint16_t used : 1 = 0;      ///< and was used since
  std::uint16_t filling : 1 = 0;   ///< it has a frame, and its content is on its way from the store
};

class op;

/// The machine that decides for a region. Set by the driver; others may look.
class machine_link {
 public:
  [[nodiscard]] model::machine* get() const noexcept { return at_.load(std::memory_order_acquire); }
  [[nodiscard]] model::machine* operator->() const noexcept { return get(); }
  [[nodiscard]] model::machine& operator*() const noexcept { return *get(); }
  void set(model::machine* machine) noexcept { at_.store(machine, std::memory_order_release); }

 private:
  std::atomic<model::machine*> at_{nullptr};
};

/// While the consistency of a region changes (change.cpp), what its threads ask for waits here. Driver's thread.
struct change_state {
  struct fault {
    std::uint64_t address = 0;
    bool write = false;
  };
  bool frozen = false;
  op* first = nullptr;  ///< operations to be executed afterwards, oldest first
  op* last = nullptr;
  base::fault_vector<fault> faults{};     ///< of threads that the kernel holds
  std::uint64_t calls = 0;         ///< of this node, under way: atomic operations, pushes
  std::uint64_t sent = 0;          ///< units in messages about units, those between calls and their replies left out
  std::uint64_t received = 0;
};

/// Memory for tables, by the system.
inline constexpr protocol::table_memory zeroes{os::map_table, os::unmap};

struct region_slot {
  region_description about;
  unit_layout layout;
  std::unique_ptr<const layout_body> layout_parts;  ///< of one that is not uniform
  std::unique_ptr<pool::pool> memory;
  detect::detector* detector = nullptr;  ///< shared by all regions of its kind
  dumped_parts dumped;
  protocol::table<frame_state> frames{zeroes};
  store::store* store = nullptr;  ///< where content is that has no frame; null where memory has no limit
  protocol::table<std::byte> twins{zeroes};  ///< as large as the region; used where a unit has a twin
  static constexpr std::size_t most_protocols = 16;
  /// By protocol, each made when the region first has its consistency. One of them is in charge.
  std::array<std::unique_ptr<model::machine>, most_protocols> made;
  machine_link machine;
  change_state change;
  struct {
    std::atomic<std::uint64_t> faults{0}, writes{0}, ns{0};
  } waited;  ///< by threads of this node, for units of the region
  base::fault_ptr<parallel_block> block;  ///< while a parallel block lasts

  /// The machine of this protocol, in charge or not; null if the region never had it.
  [[nodiscard]] model::machine* made_of(model::protocol_id id) const noexcept { return made[id.value()].get(); }
  [[nodiscard]] quire_consistency consistency() const noexcept { return static_cast<quire_consistency>(machine->protocol().value()); }
  /// Its written units are found without faults.
  [[nodiscard]] bool scans() const noexcept { return detector->scans(); }
  [[nodiscard]] std::uint64_t unit_of(std::uint64_t address) const noexcept { return layout.unit_of(address - about.base); }
  /// Units that have a byte of a range of addresses of the region.
  [[nodiscard]] unit_range under(std::uint64_t address, std::uint64_t bytes) const noexcept { return layout.under(address - about.base, bytes); }
  [[nodiscard]] std::uint64_t address_of(std::uint64_t unit) const noexcept { return about.base + layout.offset_of(unit); }
  [[nodiscard]] std::byte* application(std::uint64_t unit) const noexcept { return memory->application_view() + layout.offset_of(unit); }
  [[nodiscard]] std::byte* system(std::uint64_t unit) const noexcept { return memory->system_view() + layout.offset_of(unit); }
  [[nodiscard]] std::byte* twin(std::uint64_t unit) const noexcept { return twins.data() + layout.offset_of(unit); }
  [[nodiscard]] std::size_t bytes_of(std::uint64_t unit) const noexcept { return layout.bytes_of(unit); }
  [[nodiscard]] std::size_t bytes_of(std::uint64_t first, std::uint64_t count) const noexcept { return layout.bytes_of(first, count); }
};

/// Whether the region has the units that a message speaks of.
[[nodiscard]] inline bool lies_in(const region_slot& r, const model::message& m) noexcept {
  const std::uint64_t units = r.machine->units();
  return m.unit < units && m.count <= units - m.unit;
}

/// Finds the region of an address: the shared range is cut into granules, each of one region: 64 MiB, and less in a range
/// that would have few of them, down to 2 MiB. Reading is lock-free and async-signal-safe.
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
  }
  /// The slot of a region; null if there is none of that number.
  [[nodiscard]] region_slot* slot(model::region_id id) const noexcept {
    return id.value() < max_regions ? slots_[id.value()].load(std::memory_order_acquire) : nullptr;
  }
  [[nodiscard]] region_slot* find(std::uint64_t address) const noexcept {
    if (address - base_ >= bytes_) return nullptr;
    const std::uint16_t tag = granules_[(address - base_) >> granule_shift_].load(std::memory_order_acquire);
    if (tag == 0) return nullptr;
    region_slot* s = slots_[tag - 1].load(std::memory_order_acquire);
    return s != nullptr && address - s->about.base < s->about.bytes ? s : nullptr;
  }
  void publish(std::unique_ptr<region_slot> s) {
    region_slot* raw = s.release();
    slots_[raw->about.id].store(raw, std::memory_order_release);
    const std::uint64_t first = (raw->about.base - base_) >> granule_shift_;
    const std::uint64_t last = (raw->about.base + raw->about.bytes - 1 - base_) >> granule_shift_;
    for (std::uint64_t g = first; g <= last; ++g) {
      granules_[g].store(static_cast<std::uint16_t>(raw->about.id + 1), std::memory_order_release);
    }
  }
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; slots_ != nullptr && i < max_regions; ++i) {
      if (region_slot* s = slots_[i].load(std::memory_order_acquire); s != nullptr) f(*s);
    }
  }
  region_map() = default;
  region_map(const region_map&) = delete;
  region_map& operator=(const region_map&) = delete;
  ~region_map() {
    for_each([](region_slot& s) { delete &s; });
  }

  [[nodiscard]] std::uint64_t base() const noexcept { return base_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t granule_bytes() const noexcept { return std::uint64_t{1} << granule_shift_; }

 private:
  std::uint64_t base_ = 0, bytes_ = 0;
  unsigned granule_shift_ = 0;
  std::unique_ptr<std::atomic<std::uint16_t>[]> granules_;
  std::unique_ptr<std::atomic<region_slot*>[]> slots_;
};

}  // namespace quire::core
