// SPDX-License-Identifier: BSD-3-Clause
// Parallel blocks (KOAN): their calls, and what a node does at their begin and end. The change itself, with its
// collectives, is that of change.cpp: to release consistency and back, or, where the region has release consistency
// already, to itself. Calls run on application threads; close_block(), merge_block() and mark_block() on the driver's.
#include "core/block_calls.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "base/log.hpp"
#include "core/change.hpp"
#include "core/configuration.hpp"
#include "core/content.hpp"
#include "core/core.hpp"
#include "core/known_machines.hpp"
#include "core/region_slot.hpp"
#include "core/thread_state.hpp"
#include "model/action.hpp"
#include "protocol/contract/row.hpp"

namespace quire::core {

void block_calls::stop_scanned_writes(region_slot& r) noexcept {
  release::machine* const machine = r.scans() ? release_of(r) : nullptr;
  if (machine == nullptr) return;
  release::machine& m = *machine;
  const auto used = m.used();
  for (std::uint64_t unit = used.first(); unit < used.end(); ++unit) {
    core_.actions.clear();
    m.blocks().on_block_ahead(unit, core_.actions);
    if (core_.actions.size() != 0) core_.take_step(r);
  }
  core_.perform_steps();
}

void block_calls::close(region_slot& r) noexcept {
  release::machine& m = *release_of(r);
  const auto used = m.used();
  for (std::uint64_t unit = used.first(); unit < used.end(); ++unit) {
    core_.actions.clear();
    m.blocks().on_block_end(unit, core_.actions);
    if (core_.actions.size() != 0) core_.take_step(r);
  }
  core_.perform_steps();
}

void block_calls::merge(region_slot& r) noexcept {
  close(r);  // a home may have come here since it was closed
  release::machine& m = *release_of(r);
  for (std::uint64_t unit = m.used().first(); unit < m.used().end(); ++unit) {
    if (!m.knows(unit) || !m.is_home(unit)) continue;
    const bool has_base = m.blocks().has_base(unit);
    if (r.block->merge.has(unit)) use_content(core_.frames, r, unit, 1, content::changed);
    r.block->merge.finish(unit, core_.config.self, r.system(unit), has_base ? r.twin(unit) : nullptr);
    if (has_base) m.blocks().on_base_dropped(unit);
  }
}

void block_calls::turn(region_slot& r, bool begins, bool checked) noexcept {
  if (!begins && checked) merge(r);
  release_made(r)->blocks().check(begins && checked);
}

void block_calls::mark(region_slot& r, bool begins) noexcept {
  release::machine& m = *release_of(r);
  for (std::uint64_t unit = m.used().first(); unit < m.used().end(); ++unit) {
    if (!m.knows(unit)) continue;
    core_.actions.clear();
    begins ? m.blocks().on_block_begin(unit, core_.actions) : m.blocks().on_block_over(unit, core_.actions);
    if (core_.actions.size() != 0) core_.take_step(r);
  }
  core_.perform_steps();
}

base::status block_calls::begin(std::uint64_t region, unsigned flags) noexcept {
  change_call c;
  c.what = change_call::kind::begin_block;
  c.region = changeable(core_.regions, region);
  c.old = core_.regions.is_old(region);
  c.to = protocol::find(core_.config.protocols, release::id.value());
  c.checked = (flags & QUIRE_BLOCK_CHECK) != 0;
  c.good = c.region != nullptr && c.region->about.code == 0 && c.region->about.backing == 0 &&
           c.region->block == nullptr && c.region->can().block && (flags & ~unsigned{QUIRE_BLOCK_CHECK}) == 0;
  return core_.changes.change(c);
}

base::status block_calls::end(std::uint64_t region, quire_overlap& first) noexcept {
  change_call c;
  c.what = change_call::kind::end_block;
  c.region = changeable(core_.regions, region);
  c.old = core_.regions.is_old(region);
  c.good = c.region != nullptr && c.region->block != nullptr;
  c.checked = c.good && c.region->block->checked;
  if (c.good) c.to = protocol::find(core_.config.protocols, c.region->block->before.value());
  if (const auto why = core_.changes.change(c); !why.ok()) return why;
  base::fault_ptr<parallel_block> ended;
  core_.as_driver([&] { ended = std::move(c.region->block); });
  if (!c.checked) return {};
  const auto address_at = [&](std::uint64_t offset) { return c.region->fine(c.region->about.base + offset); };
  for (const auto& o : ended->merge.overlaps()) {
    base::log(base::log_level::warning, "nodes %u and %u both changed the byte at 0x%lx in a parallel block",
              static_cast<unsigned>(o.a.value()), static_cast<unsigned>(o.b.value()),
              static_cast<unsigned long>(address_at(o.offset)));
  }
  const std::uint64_t untold = ended->merge.overlap_count() - ended->merge.overlaps().size();
  if (untold != 0) base::log(base::log_level::warning, "and %lu more overlaps", static_cast<unsigned long>(untold));
  // Each byte has one home, and that knows best.
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  const bool any = !ended->merge.overlaps().empty();
  const auto mine = any ? ended->merge.overlaps().front() : block_merge::overlap{};
  std::int64_t offset = any ? static_cast<std::int64_t>(mine.offset) : none;
  if (const auto why = core_.changes.lowest(offset); !why.ok()) return why;
  if (offset == none) return {};
  std::int64_t pair =
      any && static_cast<std::int64_t>(mine.offset) == offset ? mine.a.value() << 16 | mine.b.value() : none;
  if (const auto why = core_.changes.lowest(pair); !why.ok()) return why;
  first.address = reinterpret_cast<void*>(address_at(static_cast<std::uint64_t>(offset)));
  first.node_a = static_cast<int>(pair >> 16);
  first.node_b = static_cast<int>(pair & 0xffff);
  return QUIRE_OVERLAP;
}

base::status block_calls::declare(std::uint64_t address, std::uint64_t bytes) noexcept {
  struct declare_op : op {
    using op::op;
    region_ref region{};
    std::uint64_t first = 0, end = 0;
  } o(
      [](core&, op& self) noexcept {
        auto& range = static_cast<declare_op&>(self);
        region_slot& r = *range.region;
        if (range.region.gone()) return self.complete(QUIRE_NOT_FOUND);
        if (r.change.frozen) return r.change.park(self);
        release::machine* const machine = release_of(r);
        if (r.block == nullptr || machine == nullptr) return self.complete(QUIRE_INVALID);
        r.block->declared.add(range.first, range.end);
        const unit_range units = r.layout.under(range.first, range.end - range.first);
        for (std::uint64_t unit = units.first; unit < units.end; ++unit) {
          if (r.bytes_of(unit) != 0) machine->blocks().on_declared(unit);
        }
        self.complete();
      },
      op::type::call);
  o.region = core_.regions.find(address);
  if (o.region == nullptr || bytes == 0) return QUIRE_BAD_ADDRESS;
  if (bytes > o.region->bytes_from(address)) return QUIRE_BAD_ADDRESS;
  o.first = o.region->offset_of(address);
  o.end = o.first + bytes;
  (void)core_.run(o);
  return o.result();
}

}  // namespace quire::core
