// SPDX-License-Identifier: BSD-3-Clause
// The outer halves run in an application thread, ops on the driver's.
#include "core/fault_ranges.hpp"

#include <algorithm>

#include "core/absent_units.hpp"
#include "core/core.hpp"
#include "core/fault.hpp"
#include "core/performer.hpp"
#include "core/protocol_set.hpp"
#include "core/region_slot.hpp"
#include "model/action.hpp"

namespace quire::core {

using model::access;

base::status touch_range(core& node, std::uint64_t address, std::uint64_t bytes, access want) noexcept {
  const region_ref r = node.regions.find(address);
  if (r == nullptr || bytes == 0) return {};
  if (want == access::write && node.protocols.of(*r).transactions) return QUIRE_UNSUPPORTED;
  const std::uint64_t end = address + std::min(bytes, r->bytes_from(address));
  while (address < end) {
    const accessed what = r->access_at(address);
    const auto why = node.faults.fault_and_wait(r, what, want, false, node.now(), address);
    if (why.code() == QUIRE_NOT_FOUND) return {};
    if (why.code() == QUIRE_CONFLICT) return why;
    const std::uint64_t offset = r->offset_of(address);
    const bool page = what.page == accessed::by::composed_page;
    const std::uint64_t next = page ? (offset / view_map::page_bytes + 1) * view_map::page_bytes
                                    : r->layout.offset_of(what.unit) + r->bytes_of(what.unit);
    address += next - offset;
  }
  return {};
}

void advise_range(core& node, std::uint64_t address, std::uint64_t bytes, bool will_write) noexcept {
  constexpr std::uint64_t most_at_once = 16384;  // others may want to drive
  const region_ref r = node.regions.find(address);
  if (r == nullptr || bytes == 0 || !node.protocols.of(*r).advice) return;
  const unit_range all = r->under(address, bytes);
  for (std::uint64_t unit = all.first; unit < all.end; unit += most_at_once) {
    struct advice_op : op {
      using op::op;
      region_ref region{};
      std::uint64_t first = 0, end = 0;
      bool will_write = false;
    } o(
        [](core& e, op& self) noexcept {
          auto& advice = static_cast<advice_op&>(self);
          if (advice.region.gone() || !e.protocols.of(*advice.region).advice) return self.complete();
          model::machine& machine = *advice.region->machine;
          for (std::uint64_t u = advice.first; u < advice.end; ++u) machine.on_advice(u, advice.will_write);
          self.complete();
        },
        op::type::call);
    o.region = r;
    o.first = unit;
    o.end = std::min(all.end, unit + most_at_once);
    o.will_write = will_write;
    (void)node.run(o);
  }
}

std::uint64_t usable_bytes(core& node, std::uint64_t address, std::uint64_t bytes, access want) noexcept {
  struct range_op : op {
    using op::op;
    region_ref region{};
    std::uint64_t next = 0, end = 0;
    access want{};
  } o(
      [](core&, op& self) noexcept {
        auto& range = static_cast<range_op&>(self);
        const bool simple = !range.region.gone() && !range.region->change.frozen && !range.region->states.used();
        while (simple && range.next < range.end && range.region->machine->mapped(range.next) >= range.want)
          ++range.next;
        self.complete();
      },
      op::type::fault);
  o.region = node.regions.find(address);
  if (o.region == nullptr || bytes == 0) return 0;
  const region_slot& r = *o.region;
  const unit_range asked = r.under(address, bytes);
  o.next = asked.first;
  o.end = asked.end;
  o.want = want;
  (void)node.run(o);
  return o.next == asked.first
             ? 0
             : std::min(bytes, r.layout.offset_of(o.next - 1) + r.bytes_of(o.next - 1) - r.offset_of(address));
}

void prefetch_range(core& node, std::uint64_t address, std::uint64_t bytes, access want) noexcept {
  struct range_op : op {
    using op::op;
    region_ref region{};
    read_ahead_plan plan{};
    access want{};
  } o(
      [](core& e, op& self) noexcept {
        auto& range = static_cast<range_op&>(self);
        if (range.region.gone()) return self.complete();
        if (range.region->change.frozen) return range.region->change.park(self);
        e.absent.prefetch(*range.region, range.plan.first, range.plan.count);
        for (std::uint64_t i = 0; i < range.plan.count; ++i) {
          e.actions.clear();
          if (range.region->bytes_of(range.plan.first + i) == 0 ||
              e.absent.is_absent(*range.region, range.plan.first + i))
            continue;
          if (range.region->machine->on_hint(range.plan.first + i, range.want, e.actions)) {
            e.performer.take(*range.region, e.actions);
          }
        }
        e.performer.flush();
        e.protocols.relieve(*range.region);
        self.complete();
      },
      op::type::fault);
  o.region = node.regions.find(address);
  if (o.region == nullptr || bytes == 0) return;
  const unit_range asked = o.region->under(address, bytes);
  o.plan = {asked.first, asked.count(), false};
  o.plan.count = std::min(o.plan.count, o.region->layout.fitting(asked.first, node.faults.most_ahead_bytes()));
  o.want = want;
  (void)node.run(o);
}

}  // namespace quire::core
