// SPDX-License-Identifier: BSD-3-Clause
// What payload each kind of message brings, and where it goes. One rule for both sides: a sender checks what it sends
// (post), and the receiver what comes (place), by fault_of(). So whatever leaves a node has a place where it arrives,
// and a payload that breaks the rule ends the process that it came to, with its name: dropped without a word it would
// keep somebody waiting for ever. Driver's thread only.
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/content.hpp"
#include "core/core.hpp"
#include "core/counters.hpp"
#include "core/diffs.hpp"
#include "core/inbox.hpp"
#include "core/message_table.hpp"
#include "core/region_slot.hpp"
#include "core/survival.hpp"
#include "core/replicas.hpp"
#include "core/spread.hpp"
#include "core/sync_calls.hpp"
#include "core/watching.hpp"
#include "model/membership.hpp"

namespace quire::core {

using model::message;
using model::message_kind;
using protocol::payload;
using transport::landing;

namespace {

/// Of updates that are announced and not delivered yet. More are not taken: a reader asks when it hears that its copy
/// is old.
constexpr std::size_t most_offered = 64u << 20;

}  // namespace

const char* inbox::fault_of(const message& m) const noexcept {
  const protocol::message_traits& t = core_.messages.of(m.kind);
  if (t.to == protocol::route::nobody) return "no protocol of this node has such messages";
  const payload what = t.brings;
  switch (what) {
    case payload::none:
      return m.payload_bytes == 0 ? nullptr : "a message of this kind has no payload";
    case payload::value:
      return m.payload_bytes <= landing_.size() ? nullptr : "the value is too long";
    case payload::piece:
      return m.payload_bytes <= sync::array_limits{}.piece_bytes ? nullptr
                                                                 : "so many bytes of an array are never sent at once";
    case payload::entries:
      return m.payload_bytes != 0 && m.payload_bytes <= diff_traffic::message_bytes
                 ? nullptr
                 : "so many bytes of diffs are never sent at once";
    case payload::content:
      if (m.payload_bytes == 0) return nullptr;  // zeros, or the receiver has it
      break;
    default:
      break;
  }
  const region_slot* const r = core_.regions.slot(m.region);
  if (r == nullptr) return "there is no such region";
  if (what == payload::spread)
    return core_.spread.is_legal(*r, m.payload_bytes) ? nullptr : "so many bytes are never spread at once";
  if (!lies_in(*r, m)) return "the region has no such units";
  if (m.payload_bytes != r->bytes_of(m.unit, m.count)) return "the payload is not the content of so many units";
  return what != payload::replica || r->machine->losses().replicated() ? nullptr : "the region has no replicas";
}

void inbox::refuse(const message& m, const char* why) noexcept {
  ++core_.count.refused;
  base::die(QUIRE_SYSTEM,
            "node %u sent a message that this node cannot take, and the job cannot go on without it: %s (kind %u, "
            "region %u, unit %lu, "
            "count %u, %u bytes); the nodes run different versions of Quire, or this is an error of Quire",
            static_cast<unsigned>(m.from.value()), why, static_cast<unsigned>(m.kind),
            static_cast<unsigned>(m.region.value()), static_cast<unsigned long>(m.unit), m.count, m.payload_bytes);
}

landing inbox::place(const message& m) noexcept {
  core_.watching.heard(m.from);  // what is announced may take a while to come
  if (core_.survival.is_cut_off(m.from) || is_too_late(m)) return landing::too_late();
  if (const char* const why = fault_of(m); why != nullptr) refuse(m, why);
  switch (core_.messages.of(m.kind).brings) {
    case payload::entries:
      return landing::at(core_.diffs.place(m));
    case payload::spread:
      return landing::at(core_.spread.place(m));
    case payload::replica:
      return landing::at(core_.replicas.traffic.arriving.place(m));
    case payload::piece:
      return landing::at(core_.objects.place(m));
    case payload::offer:
      return place_offer(m);
    case payload::content:
      return place_content(m);
    default:
      return landing::at(landing_.data());
  }
}

landing inbox::place_offer(const message& m) noexcept {
  if (updates_.on_their_way() == 0 || updates_.on_their_way() + m.payload_bytes <= most_offered)
    return landing::at(updates_.place(m));
  count_received(*core_.regions.slot(m.region), m);
  return landing::too_late();
}

landing inbox::place_content(const message& m) noexcept {
  region_slot& r = *core_.regions.slot(m.region);
  for (std::uint32_t i = 0; i < m.count; ++i) {
    const std::uint64_t unit = m.unit + i;
    if (m.kind == message_kind::pin_grant ? r.machine->pins().awaits_grant(unit) : r.machine->awaits_content(unit))
      continue;
    count_received(r, m);
    return landing::too_late();
  }
  use_content(core_.frames, r, m.unit, m.count, content::replaced);
  if (core_.config.survives && r.tracks_frames()) landings_.push_back(m);
  // Frames of a first visit in one call; the single page of a fault is as cheap by itself.
  if (m.count > 1 && !r.machine->is_written(m.unit))
    (void)!r.memory->populate(r.layout.offset_of(m.unit), m.payload_bytes);
  return landing::at(r.system(m.unit));
}

}  // namespace quire::core
