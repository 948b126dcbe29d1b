// SPDX-License-Identifier: BSD-3-Clause
#include "core/frames.hpp"

#include <algorithm>
#include <cstring>

#include "base/log.hpp"
#include "os/memory.hpp"

namespace quire::core {

unit_queue::~unit_queue() { os::unmap(ring_, capacity_ * sizeof(entry)); }

void unit_queue::grow() noexcept {
  const std::size_t larger = std::max<std::size_t>(capacity_ * 2, os::page_bytes);
  int error = 0;
  auto* const ring = static_cast<entry*>(os::map_table(larger * sizeof(entry), error));
  if (ring == nullptr) base::die(QUIRE_NO_MEMORY, "no memory for the list of units in memory: %s", std::strerror(error));
  for (std::size_t i = 0; i < size_; ++i) ring[i] = ring_[(head_ + i) & (capacity_ - 1)];
  os::unmap(ring_, capacity_ * sizeof(entry));
  ring_ = ring;
  capacity_ = larger;
  head_ = 0;
}

std::uint64_t frames::room() const noexcept {
  if (!limited()) return std::uint64_t{1} << 40;
  const std::uint64_t reserve = limit_ / 8;
  return used_ + reserve < limit_ ? limit_ - reserve - used_ : 0;
}

void frames::bring(region_slot& r, std::uint64_t first, std::uint64_t units, content how) noexcept {
  for (std::uint64_t unit = first; unit < first + units; ++unit) {
    frame_state& f = r.frames.data()[unit];
    if (f.filling != 0) [[unlikely]] finish_fill(r, unit);
    f.used = 1;
    if (f.resident == 0) {
      if (f.saved != 0 && how != content::replaced && how != content::promised) {
        const std::uint64_t count = away_from(r, unit, first + units - unit);  // a store is read in long pieces
        read_back(r, unit, count);
        for (std::uint64_t u = unit + 1; u < unit + count; ++u) enter(r, u, own);
      }
      enter(r, unit, how == content::replaced ? came : own);
    }
    if (how != content::read && how != content::sent) f.saved = 0;
    if (how == content::replaced) f.landing = 1;
    if (how == content::sent) f.sent = period_;
  }
  count.most_bytes = std::max(count.most_bytes, used_);
}

void frames::enter(region_slot& r, std::uint64_t unit, unit_queue& queue) noexcept {
  r.frames.data()[unit].resident = 1;
  used_ += r.bytes_of(unit);
  queue.push({r.about.id, unit}, r.bytes_of(unit));
}

/// In the middle of a step, which cannot be put off: the driver waits for the store.
void frames::read_back(region_slot& r, std::uint64_t first, std::uint64_t units) noexcept {
  const int error = r.store->fill(position_of(r, first), {r.system(first), r.bytes_of(first, units)});
  if (error != 0) lost(r, first, error);
  count.units_read += units;
}

/// What only the store had cannot be had from there. The job ends, as nobody else has it.
void frames::lost(const region_slot& r, std::uint64_t first, int error) noexcept {
  base::die(QUIRE_SYSTEM, "cannot read the page at 0x%lx back from the %s in %s: %s", static_cast<unsigned long>(r.address_of(first)),
            r.store->name(), r.store->where(), std::strerror(error));
}

void frames::deposited(region_slot& r, std::uint64_t first, std::uint64_t units) noexcept {
  r.dumped.add(*r.memory, r.layout.offset_of(first), r.bytes_of(first, units));
  for (std::uint64_t unit = first; unit < first + units; ++unit) r.frames.data()[unit].saved = 1;
  count.units_written += units;
}

void frames::give_back(region_slot& r, std::uint64_t first, std::uint64_t units) noexcept {
  for (std::uint64_t unit = first; unit < first + units; ++unit) r.frames.data()[unit].resident = 0;
  used_ -= r.bytes_of(first, units);
  const int error = r.memory->give_back(r.layout.offset_of(first), r.bytes_of(first, units));
  if (error != 0) {
    base::die(QUIRE_SYSTEM, "cannot give %lu KiB of pool '%s' back to the system: %s; unset QUIRE_MEMORY_LIMIT, or use another pool",
              static_cast<unsigned long>(r.bytes_of(first, units) >> 10), r.memory->name(), std::strerror(error));
  }
}

void frames::forget(region_slot& r) noexcept {
  if (!limited()) return;
  while (finish_one(r) != nullptr) continue;
  const auto bytes_of = [&](std::uint64_t unit) { return r.bytes_of(unit); };
  came.forget(r.about.id, bytes_of);
  own.forget(r.about.id, bytes_of);
  bool saved = false;
  r.dumped.for_each(r.about.bytes, [&](std::uint64_t offset, std::uint64_t bytes) {
    const unit_range part = r.layout.under(offset, bytes);
    for (std::uint64_t unit = part.first; unit < part.end; ++unit) {
      frame_state& f = r.frames.data()[unit];
      if (f.resident != 0) used_ -= r.bytes_of(unit);
      saved |= f.saved != 0;
      f = {};
    }
  });
  if (saved) r.store->forget(position_of(r, 0), r.about.bytes);
  for (units& u : let_in_) {
    if (u.region == &r) u = {};
  }
}

}  // namespace quire::core
