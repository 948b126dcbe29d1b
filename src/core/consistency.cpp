// SPDX-License-Identifier: BSD-3-Clause
// Where the release protocol meets the mechanisms: twins and diffs, notices in and out. Driver's thread only.
#include <array>
#include <cstring>

#include "base/log.hpp"
#include "core/core.hpp"

namespace quire::core {

using model::message;
using model::message_kind;

void core::make_twins(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  frames_.use(r, first, count, content::read);
  std::memcpy(r.twin(first), r.system(first), r.bytes_of(count));
  twin_bytes_used_ += r.bytes_of(count);
}

void core::send_diffs(region_slot& r, model::node_id to, std::uint64_t first, std::uint64_t count, bool keep) noexcept {
  diffs_.add(r, to, first, count, keep);
}

/// Threads may be writing: each word is read once. memcmp() may look again at what differed, find it as it was, and end there.
bool core::differs(model::region_id region, std::uint64_t unit) noexcept {
  region_slot& r = *regions_.slot(region);
  const auto* const content = reinterpret_cast<const volatile std::uint64_t*>(r.system(unit));
  const auto* const twin = reinterpret_cast<const std::uint64_t*>(r.twin(unit));
  const std::uint64_t words = r.bytes_of(1) / sizeof(std::uint64_t);
  for (std::uint64_t i = 0; i < words; ++i) {
    if (content[i] != twin[i]) return true;
  }
  return false;
}

/// Twins stay where they are for the next time the unit is written. When that has become too much, and none is needed nor on its
/// way to another node, all go.
void core::trim_twins() noexcept {
  constexpr std::uint64_t generous = 4;  // times the limit: the same units count every time
  if (twin_bytes_used_ < generous * config_.twin_bytes || consistency_.open().bases != 0) return;
  if (consistency_.open().twins != 0) return consistency_.end_keeping();
  if (transport_->sends_pending()) return;
  twin_bytes_used_ = 0;
  regions_.for_each([](region_slot& r) {
    if (!r.scans()) r.twins.forget();
  });
}

void core::end_of_actions() noexcept {
  diffs_.send_all();
  spread_.send_all();
  trim_twins();
  while (!later_.empty()) {
    const later_message next = later_.front();
    later_.erase(later_.begin());
    if (next.what != model::edge::none) {
      synchronise(next.to, next.m, {}, next.what);
      continue;
    }
    consistency_.acquire();
    finish_call(next.m);
  }
}

/// Asks the kernel which pages of regions under a scanning detector were written, where any were ever used.
void core::find_written() noexcept {
  if (!scanning_) return;
  regions_.for_each([](region_slot& r) {
    if (!r.scans()) return;
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
          const std::uint64_t last = (offset + range.bytes - 1) >> r.unit_shift;
          for (std::uint64_t unit = offset >> r.unit_shift; unit <= last; ++unit) r.release->on_written(unit);
        }
      }
    });
  });
}

void core::transmit(model::node_id to, const message& m, std::span<const std::byte> value) noexcept {
  if (m.kind == message_kind::spread) {
    message full = m;
    const auto payload = spread_.payload_of(m);
    full.payload_bytes = static_cast<std::uint32_t>(payload.size());
    return post(to, full, payload);
  }
  if (m.kind == message_kind::pin_grant && (m.flags & model::message_flag::no_data) == 0) return send_grant(to, m);
  send(to, m, value);
}

/// With the content as it is when all that is known has been told.
void core::send_grant(model::node_id to, message m) noexcept {
  region_slot& r = *regions_.slot(m.region);
  model::actions list;
  r.release->on_grant_leaves(m.unit, list);
  performer_.take(r, list);
  performer_.flush();
  if (!r.machine->is_written(m.unit)) {
    m.flags |= model::message_flag::zero;
    return send(to, m, {});
  }
  frames_.use(r, m.unit, 1, content::sent);
  m.payload_bytes = static_cast<std::uint32_t>(r.bytes_of(1));
  post(to, m, {r.as_told(m.unit), m.payload_bytes});
}

void core::perform(model::region_id region, const model::actions& list) noexcept {
  performer_.take(*regions_.slot(region), list);
}

void core::perform_all() noexcept { performer_.flush(); }

/// Threads may read the units meanwhile: what they may look at does not change by it.
void core::handle_update(const message& m, std::span<const std::byte> bytes) noexcept {
  region_slot* const r = regions_.slot(m.region);
  r->change.received += m.count;
  if (r->release == nullptr) return;  // an offer from before the region's consistency changed
  message one = m;
  one.count = 1;
  for (std::uint32_t i = 0; i < m.count; ++i) {
    one.unit = m.unit + i;
    actions_.clear();
    const auto outcome = r->release->on_update(one, actions_);
    if (actions_.size() != 0) performer_.take(*r, actions_);
    if (outcome == release::update_outcome::drop) continue;
    frames_.use(*r, one.unit, 1, content::changed);
    const auto content = bytes.subspan(r->bytes_of(i), r->bytes_of(1));
    if (outcome == release::update_outcome::merge) {
      diffs_.merge(*r, one.unit, content);
    } else {
      std::memcpy(r->system(one.unit), content.data(), content.size());
    }
  }
  performer_.flush();
}

release::machine* core::machine_of(model::region_id region) noexcept {
  region_slot* const r = regions_.slot(region);
  return r != nullptr ? r->release.get() : nullptr;
}

void core::catch_up() noexcept {
  if (!relaxed()) return;
  op o([](core& e, op& self) noexcept {
    e.consistency_.acquire();
    self.complete();
  }, op::type::call);
  (void)run(o);
}

void core::handle_memory(const message& m, std::span<const std::byte> value) noexcept {
  if (m.kind == message_kind::room) return on_room(m);
  if (m.kind == message_kind::diffs_ack) return diffs_.on_ack(m);
  if (m.kind == message_kind::spread_ack) return spread_.on_ack(m);
  if (m.kind == message_kind::spread_done) return on_spread_done(m);
  if (m.kind == message_kind::diffs) return diffs_.on_diffs(m, value);
  if (!consistency_.on_notices(m.from, value)) refuse(m, "its notices are none");
}

release::counters core::release_counters() const noexcept {
  release::counters sum;
  regions_.for_each([&sum](const region_slot& r) {
    if (r.made.release == nullptr) return;
    const auto& c = r.made.release->count();
    sum.read_faults += c.read_faults;
    sum.write_faults += c.write_faults;
    sum.local_faults += c.local_faults;
    sum.racing_faults += c.racing_faults;
    sum.twins += c.twins;
    sum.invalidations += c.invalidations;
    sum.stale_replies += c.stale_replies;
    sum.home_moves += c.home_moves;
    sum.forwarded += c.forwarded;
    sum.read_ahead_units += c.read_ahead_units;
    sum.read_ahead_wasted += c.read_ahead_wasted;
    sum.atomics += c.atomics;
    sum.copies_dropped += c.copies_dropped;
    sum.updates_sent += c.updates_sent;
    sum.updates_applied += c.updates_applied;
    sum.kept += c.kept;
    sum.pins += c.pins;
    sum.pin_waits += c.pin_waits;
  });
  return sum;
}

}  // namespace quire::core
