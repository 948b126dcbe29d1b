// SPDX-License-Identifier: BSD-3-Clause
// Messages out: those of units with their content, what must not leave before what it tells of, and what this node
// sends to itself.
#include "core/outbox.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/content.hpp"
#include "core/core.hpp"
#include "core/diffs.hpp"
#include "core/event_key.hpp"
#include "core/inbox.hpp"
#include "core/known_machines.hpp"
#include "core/message_table.hpp"
#include "core/performer.hpp"
#include "core/protocol_set.hpp"
#include "core/region_slot.hpp"
#include "core/replicas.hpp"
#include "core/spread.hpp"
#include "core/survival.hpp"
#include "core/unit_calls.hpp"
#include "model/atomic_operation.hpp"
#include "model/membership.hpp"
#include "races/recorder.hpp"
#include "record/events.hpp"
#include "record/recorder.hpp"
#include "sync/kinds.hpp"
#include "transport/transport.hpp"

namespace quire::core {

using model::action;
using model::message;
using model::message_kind;
using model::node_id;

namespace {
/// What survivors tell one another of locks and rounds. It says nothing of what threads have written, and the marker
/// behind it does not wait.
bool is_of_recovery(message_kind k) noexcept {
  return k == sync::message_kind_of(sync::kind::lock_survives) || k == sync::message_kind_of(sync::kind::survey);
}
/// Whether a message has to be taken by a node where all threads compute. An arrival at a collective call has not, as a
/// thread of that node will come to it.
transport::urgency urgency_of(const message& m, const protocol::message_traits& t) noexcept {
  const bool said = t.later_if_said && (m.flags & model::message_flag::unhurried) != 0;
  const bool sync = m.kind >= message_kind::sync_first && m.kind <= message_kind::sync_last;
  const bool later = t.later || said || (sync && sync::kind_of(m.kind) == sync::kind::gather);
  return later ? transport::urgency::later : transport::urgency::now;
}
bool brings_content(const message& m, const protocol::message_traits& t) noexcept {
  constexpr unsigned empty = model::message_flag::zero | model::message_flag::no_data;
  return t.brings == protocol::payload::content && (m.flags & empty) == 0;
}
/// What a message does to memory that lets threads go on.
model::edge edge_of(const message& m, protocol::passage how, node_id self) noexcept {
  const bool releases = how == protocol::passage::as_said ? m.b != 0 : m.requester == self;
  return releases ? model::edge::releases : model::edge::carries;
}
}  // namespace

void outbox::post(model::node_id to, const message& m, std::span<const std::byte> payload, transport::urgency how,
                  transport::lasting lasts) noexcept {
  CHECK(m.payload_bytes == payload.size() && wire::is_legal(m, core_.config.nodes) && core_.in.fault_of(m) == nullptr);
  if (core_.recorder != nullptr) core_.recorder->on_sent(to.value(), wire::header_bytes + payload.size());
  if (core_.events != nullptr)
    (void)core_.events->add(quire::record::event_type::leaves, key_of(m),
                            quire::record::happening.load(std::memory_order_relaxed),
                            static_cast<std::uint16_t>(to.value()), static_cast<std::uint8_t>(m.kind),
                            static_cast<std::uint32_t>(wire::header_bytes + payload.size()));
  core_.wire.send(to, m, payload, how, lasts);
}

void outbox::send(node_id to, const message& m, std::span<const std::byte> value) noexcept {
  if (to == core_.config.self) {
    send_here(m, value);
  } else {
    post(to, m, value, urgency_of(m, core_.messages.of(m.kind)));
  }
}

void outbox::send_here(const message& m, std::span<const std::byte> value) noexcept {
  if (core_.events != nullptr)
    (void)core_.events->add(quire::record::event_type::leaves_here, key_of(m),
                            quire::record::happening.load(std::memory_order_relaxed));
  local.push(m, value);
}

void outbox::send_units(region_slot& r, node_id to, const message& m, std::uint64_t first, std::uint64_t count,
                        bool with_content) noexcept {
  core_.diffs.send_all();  // a request does not overtake the diff that it is to see
  const protocol::message_traits& t = core_.messages.of(m.kind);
  if (t.brings == protocol::payload::spread) return core_.spread.add(r, first, count, m.requester, m.token);
  if (r.memory->of_host()) use_host_frames(r, m, first, count);
  message out = m;
  out.unit = first;
  out.count = static_cast<std::uint32_t>(count);
  if (t.counted && !core_.members.is_dead(to)) r.change.sent += count;
  if (t.leaves != protocol::passage::plain) return send_behind(to, out, t);
  if (core_.orders(r)) return send_in_order(r, to, out, t);
  if (t.tells && core_.replicas.hold_back(to, out, {}, true)) return;
  if (t.domain_sees)
    core_.protocols.feed(core_.protocols.domain(t.of), [&](protocol::domain& of) { of.on_leaving(to, m); });
  if (!with_content) return send(to, out, {});
  send_content(r, to, out, t);
}

/// Who asks for a unit has its frame from now on, for what may be in it already. Who says so has the frame, and who is
/// told may write it: it is in use here, too.
void outbox::use_host_frames(region_slot& r, const message& m, std::uint64_t first, std::uint64_t count) noexcept {
  const bool asks = m.kind == message_kind::read_request || m.kind == message_kind::write_request;
  if ((m.flags & model::message_flag::no_data) != 0)
    r.dumped.add(*r.memory, r.layout.offset_of(first), r.bytes_of(first, count));
  if (asks && m.requester == core_.config.self && r.tracks_frames()) hold_frames(core_.frames, r, first, count);
}

void outbox::send_content(region_slot& r, node_id to, message out, const protocol::message_traits& t) noexcept {
  CHECK(to != core_.config.self);
  const std::uint64_t first = out.unit, count = out.count;
  core_.stamp(fault_trace::point::replied, r.about.id, first);
  out.payload_bytes = static_cast<std::uint32_t>(r.bytes_of(first, count));
  const bool twin = (out.flags & (model::message_flag::as_told | model::message_flag::base)) != 0;
  if (!twin) use_content(core_.frames, r, first, count, content::sent);
  post(to, out, {twin ? r.twin(first) : r.system(first), out.payload_bytes}, urgency_of(out, t),
       t.copied ? transport::lasting::now : transport::lasting::until_sent);
}

/// A message about units that lets threads go on: behind what the actions before it ask for.
void outbox::send_behind(node_id to, message m, const protocol::message_traits& t) noexcept {
  const model::edge what = edge_of(m, t.leaves, core_.config.self);
  const std::uint64_t end = m.unit + m.count;
  if (t.one_by_one) m.count = 1;
  for (; m.unit < end; m.unit += m.count) later_.push_back({to, m, what});
}

/// Of a region that orders: no message overtakes one that waits for diffs (sequential (I7) needs the order of a pair).
/// What threads here may have written into a unit before its content leaves is behind all that they wrote before that;
/// content of later copies is behind the same interval.
void outbox::send_in_order(region_slot& r, node_id to, const message& m, const protocol::message_traits& t) noexcept {
  if (brings_content(m, t)) {  // from its frame, when it leaves
    use_content(core_.frames, r, m.unit, m.count, content::sent);
    ++content_waits_;
  }
  model::edge what = model::edge::none;
  if (t.orders) {
    const bool own = m.requester == core_.config.self;  // an atomic operation of a thread here
    what = own || std::exchange(write_ended_, false) ? model::edge::releases : model::edge::joins;
  }
  later_.push_back({to, m, what});
}

bool outbox::turn_period() noexcept { return content_waits_ == 0 && core_.wire.turn_period(); }

void outbox::send_ordered(node_id to, const message& m) noexcept {
  const protocol::message_traits& t = core_.messages.of(m.kind);
  if (!brings_content(m, t)) return send(to, m, {});
  CHECK(content_waits_ != 0);
  --content_waits_;
  send_content(*core_.regions.slot(m.region), to, m, t);
}

void outbox::send_grant(model::node_id to, message m) noexcept {
  region_slot& r = *core_.regions.slot(m.region);
  model::actions list;
  release_of(r)->pins().on_grant_leaves(m.unit, list);
  core_.performer.take(r, list);
  core_.performer.flush();
  if (!r.machine->is_written(m.unit)) {
    m.flags |= model::message_flag::zero;
    return send(to, m, {});
  }
  use_content(core_.frames, r, m.unit, 1, content::sent);
  m.payload_bytes = static_cast<std::uint32_t>(r.bytes_of(m.unit));
  post(to, m, {as_told(r, m.unit), m.payload_bytes}, transport::urgency::now, transport::lasting::now);
}

/// Atomic operation on the content, through the system view: it is the same memory as the application view.
void outbox::operate(region_slot& r, const action& a) noexcept {
  message m = a.m;
  if (m.c > r.bytes_of(a.unit) - sizeof(std::uint64_t) || m.c % sizeof(std::uint64_t) != 0)
    core_.in.refuse(m, "there is no word at that offset of the unit");
  use_content(core_.frames, r, a.unit, 1, content::changed);
  std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(r.system(a.unit) + m.c));
  const std::uint64_t operand = m.a, desired = m.b;
  switch (static_cast<model::atomic_operation>(m.operation)) {
    case model::atomic_operation::add:
      m.a = word.fetch_add(m.a);
      break;
    case model::atomic_operation::exchange:
      m.a = word.exchange(m.a);
      break;
    case model::atomic_operation::compare_exchange: {
      std::uint64_t before = m.a;
      word.compare_exchange_strong(before, m.b);
      m.a = before;
      break;
    }
  }
  const bool here = a.kind == model::action_kind::operate_here;
  if (!r.can().relaxed) {
    if (core_.orders(r)) note_write_ended();  // the view may not let threads write here, and will not be lowered then
    if (here) return complete_call(m);
    if (core_.orders(r))
      return later_.push_back({a.to, m, model::edge::releases});  // threads here may have written the word
    return core_.replicas.hold_back(a.to, m, {}, true) ? void() : send(a.to, m, {});
  }
  const auto what = static_cast<model::atomic_operation>(m.operation);
  const std::uint64_t now = model::apply(what, m.a, operand, desired);
  if (now != m.a) r.machine->on_operated(a.unit);
  if (core_.races != nullptr && now != m.a) {  // it orders threads, and is no write of one
    if (release_of(r)->unit(a.unit).twin != 0) std::memcpy(r.twin(a.unit) + m.c, &now, sizeof now);
    core_.races->on_other(r.address_of(a.unit) + m.c, sizeof now);
  }
  // Who sees a value that a thread here has left sees what that thread wrote before.
  later_.push_back({a.to, m, model::edge::releases, here});
}

void outbox::complete_call(const message& m) noexcept {
  if (core_.messages.of(m.kind).acquires) {
    later_.push_back({core_.config.self, m, model::edge::none, true});
  } else {
    core_.calls.finish(m);
  }
}

/// In order: the end of an interval, which one of them asks for, has actions of its own and comes here again.
void outbox::send_later() noexcept {
  if (std::exchange(sends_later_, true)) return;
  while (!later_.empty()) {
    const later_message next = later_.front();
    later_.erase(later_.begin());
    if (!next.completes) {
      synchronise(next.to, next.m, {}, next.what);
      continue;
    }
    core_.protocols.acquire();
    core_.calls.finish(next.m);
  }
  sends_later_ = false;
}

void outbox::synchronise(model::node_id to, const model::message& m, std::span<const std::byte> value,
                         model::edge what) noexcept {
  if (what != model::edge::none) core_.protocols.tell(to);
  if (core_.survival.is_mending() && core_.relaxed() && core_.survival.takes(to, m, value, what)) return;
  if (core_.relaxed() && core_.protocols.leaves(to, m, value, what)) return;
  if (!is_of_recovery(m.kind) && core_.replicas.hold_back(to, m, value, what != model::edge::none)) return;
  send(to, m, value);
}

}  // namespace quire::core
