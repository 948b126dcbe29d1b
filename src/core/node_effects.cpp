// SPDX-License-Identifier: BSD-3-Clause
#include "core/node_effects.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/copy_words.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/content.hpp"
#include "core/core.hpp"
#include "core/diffs.hpp"
#include "core/fault.hpp"
#include "core/frames.hpp"
#include "core/held_units.hpp"
#include "core/inbox.hpp"
#include "core/known_machines.hpp"
#include "core/message_table.hpp"
#include "core/outbox.hpp"
#include "core/performer.hpp"
#include "core/region_builder.hpp"
#include "core/region_slot.hpp"
#include "core/spread.hpp"
#include "core/store_status.hpp"
#include "core/stored_units.hpp"
#include "core/survival.hpp"
#include "core/transactions.hpp"
#include "core/unit_waiters.hpp"
#include "os/memory.hpp"
#include "protocol/release/node.hpp"
#include "races/recorder.hpp"
#include "transport/transport.hpp"

namespace quire::core {

using model::action;
using model::message;
using model::message_kind;
using model::node_id;

void node_effects::send_units(region_slot& r, node_id to, const message& m, std::uint64_t first, std::uint64_t count,
                              bool with_content) noexcept {
  core_.out.send_units(r, to, m, first, count, with_content);
}
void node_effects::use_frames(region_slot& r, std::uint64_t first, std::uint64_t count, model::access level) noexcept {
  use_content(core_.frames, r, first, count, level == model::access::write ? content::changed : content::read);
  core_.frames.note_let_in(r, first, count);
}
void node_effects::note_protected(region_slot& r, model::access from, model::access to) noexcept {
  if (from == model::access::write && core_.orders(r)) core_.out.note_write_ended();
  if (to == model::access::none && r.can().transactions) core_.transactions.on_unmapped();
}
void node_effects::publish(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  use_content(core_.frames, r, first, count, content::changed);
  const std::size_t unit_bytes = r.bytes_of(first);
  if (unit_bytes == os::page_bytes) {
    base::copy_words(r.system(first), r.application(first), r.bytes_of(first, count));
    return;
  }
  // Of a unit with several pages threads may have written some: the kernel may have taken others away, which show their
  // frames if anything.
  for (std::uint64_t unit = first; unit < first + count; ++unit) {
    if (!os::copy_present_pages(r.system(unit), r.application(unit), unit_bytes))
      base::die(
          QUIRE_SYSTEM,
          "cannot read what a transaction has written: process_vm_readv() fails; units of a page need no such call");
  }
}
void node_effects::wake_units(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  core_.faults.wake_units(r, first, count);
}
void node_effects::refuse_units(region_slot& r, std::uint64_t first, std::uint64_t count, int error) noexcept {
  core_.waiting.end(r, first, count, store_status::of(error));
}
void node_effects::flush_units(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  core_.stored.flush(r, first, count);
}
void node_effects::leave_units(region_slot& r, std::uint64_t first, std::uint64_t count, std::uint64_t end) noexcept {
  core_.stored.leave(r, first, count, static_cast<model::leave_end>(end));
}
void node_effects::operate(region_slot& r, const action& a) noexcept { core_.out.operate(r, a); }
void node_effects::complete_call(const message& m) noexcept { core_.out.complete_call(m); }
void node_effects::hold_unit(region_slot& r, std::uint64_t unit, std::uint64_t level) noexcept {
  core_.held.add(r, unit, level);
}
void node_effects::send_diffs(region_slot& r, const action& a, std::uint64_t count) noexcept {
  core_.diffs.add(r, a, count);
}
void node_effects::send_patch(region_slot& r, const action& a) noexcept { core_.diffs.add_patch(r, a); }

/// A grant, and what is spread, bring content.
void node_effects::transmit(node_id to, const message& m, std::span<const std::byte> value) noexcept {
  if (m.kind == message_kind::spread) {
    message full = m;
    const auto payload = core_.spread.payload_of(m);
    full.payload_bytes = static_cast<std::uint32_t>(payload.size());
    return core_.out.post(to, full, payload);
  }
  if (m.kind == message_kind::pin_grant && (m.flags & model::message_flag::no_data) == 0)
    return core_.out.send_grant(to, m);
  if (core_.in.is_ordered(m, core_.messages.of(m.kind))) return core_.out.send_ordered(to, m);
  core_.out.send(to, m, value);
}

void node_effects::end_of_actions() noexcept {
  core_.diffs.send_all();
  core_.spread.send_all();
  trim_twins();
  core_.out.send_later();
}

void node_effects::make_twins(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  use_content(core_.frames, r, first, count, content::read);
  base::copy_words(r.twin(first), r.system(first), r.bytes_of(first, count));
  twin_bytes_used_ += r.bytes_of(first, count);
}

/// Of a home, where intervals are recorded; else they have nothing to say.
void node_effects::drop_twins(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  if (core_.races == nullptr) return;
  for (std::uint64_t unit = first; unit < first + count; ++unit) {
    use_content(core_.frames, r, unit, 1, content::read);
    for (std::uint64_t offset = 0; offset < r.bytes_of(unit); offset += os::page_bytes) {
      const std::uint64_t bytes = std::min<std::uint64_t>(os::page_bytes, r.bytes_of(unit) - offset);
      core_.races->on_written(r.address_of(unit) + offset, r.address_of(unit), {r.system(unit) + offset, bytes},
                              r.twin(unit) + offset);
    }
  }
}

void node_effects::tell_unseen(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  if (core_.races == nullptr) return;
  for (std::uint64_t unit = first; unit < first + count; ++unit) {
    for (std::uint64_t offset = 0; offset < r.bytes_of(unit); offset += os::page_bytes) {
      core_.races->on_unseen(r.address_of(unit) + offset, r.address_of(unit),
                             std::min<std::uint64_t>(os::page_bytes, r.bytes_of(unit) - offset));
    }
  }
}

void node_effects::perform(protocol::domain& d, const protocol::domain_action& a) noexcept {
  using enum protocol::domain_action::kind;
  switch (a.what) {
    case perform:
      return core_.performer.take(*core_.regions.slot(a.region), *a.list);
    case perform_all:
      return core_.performer.flush();
    case transmit:
      return this->transmit(a.to, a.m, a.value);
    case hear:
      return core_.survival.is_mending() ? core_.in.admit(a.m, a.value) : core_.in.handle(a.m, a.value);
    case admit:
      return core_.in.admit(a.m, a.value);
    case left_back:
      return core_.survival.take_back(a.to, a.m, a.value, a.edge);
    case compare:
      return d.on_compared(core_.diffs.differs(*core_.regions.slot(a.region), a.unit));
    case look_at_sends:
      return d.on_sends(core_.wire.sends_pending());
    case released:
      return core_.races != nullptr ? core_.races->on_released() : void();
    case interval:
      return core_.races != nullptr ? core_.races->on_interval(a.number, a.releases) : void();
    case acquired:
      return core_.races != nullptr ? core_.races->on_acquired(a.known) : void();
  }
}

/// Twins stay where they are for the next time the unit is written. When that has become too much, and none is needed
/// nor on its way to another node, all go.
void node_effects::trim_twins() noexcept {
  constexpr std::uint64_t generous = 4;  // times the limit: the same units count every time
  if (twin_bytes_used_ < generous * core_.config.twin_bytes || core_.consistency.open().bases != 0) return;
  if (core_.consistency.open().twins != 0) return core_.consistency.end_keeping();
  if (core_.wire.sends_pending()) return;
  twin_bytes_used_ = 0;
  core_.regions.for_each([](region_slot& r) {
    if (!r.scans() && r.twins.bytes() != 0) (void)!os::advise(r.twins.data(), r.twins.bytes(), MADV_DONTNEED);
  });
}

/// Asks the kernel which pages of regions under a scanning detector were written, where any were ever used.
void node_effects::find_written() noexcept {
  if (!core_.builder.scanning()) return;
  core_.regions.for_each([](region_slot& r) {
    if (!r.scans() || r.change.frozen.has(freeze::end)) return;
    std::array<detect::page_range, 64> found;
    r.dumped.for_each(r.about.bytes, [&](std::uint64_t first, std::uint64_t bytes) {
      std::byte* at = r.memory->application_view() + first;
      std::byte* const end = at + bytes;
      while (at != end) {
        std::size_t count = 0;
        if (const int error = r.detector->collect(at, end, found, count); error != 0) {
          base::die(QUIRE_SYSTEM, "cannot learn which pages were written: %s", std::strerror(error));
        }
        for (const auto& range : std::span(found).first(count)) {
          const auto offset = static_cast<std::uint64_t>(range.address - r.memory->application_view());
          const unit_range units = r.layout.under(offset, range.bytes);
          for (std::uint64_t unit = units.first; unit < units.end; ++unit) release_of(r)->rights().on_written(unit);
        }
      }
    });
  });
}

}  // namespace quire::core
