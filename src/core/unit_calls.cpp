// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations, pushes and page broadcasting: the calls, and their bodies, which run on the driver's thread.
#include "core/unit_calls.hpp"

#include "base/detail.hpp"
#include "base/status_number.hpp"
#include "core/absent_units.hpp"
#include "core/call_table.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/minipages/whole_pages.hpp"
#include "core/protocol_set.hpp"
#include "core/region_slot.hpp"
#include "core/store_status.hpp"
#include "core/unit_waiters.hpp"
#include "model/action.hpp"

namespace quire::core {

using model::message;
using model::message_kind;

base::status unit_calls::atomic(std::uint64_t address, std::uint32_t operation, std::uint64_t a, std::uint64_t b,
                                std::uint64_t& before) noexcept {
  call_op o([](core& e, op& self) noexcept {
    auto& call = static_cast<call_op&>(self);
    if (call.region.gone()) return self.complete(QUIRE_NOT_FOUND);
    if (call.region->change.frozen) return call.region->change.park(self);
    if (!call.region->can().atomics) return self.complete(QUIRE_UNSUPPORTED);  // it may have changed since
    if (e.absent.must_wait(*call.region, call.m.unit, 1)) return e.absent.park(*call.region, call.m.unit, self);
    ++call.region->change.calls;
    call.token = e.tokens.add(self);
    call.m.token = call.token;
    e.protocols.release(e.protocols.domain_of(*call.region), false);
    if (e.config.survives) call.to = call.region->machine->authority_of(call.m.unit);
    e.actions.clear();
    call.region->machine->on_atomic(call.m, e.actions);
    e.take_step(*call.region);
    e.perform_steps();
  });
  o.region = core_.regions.find(address);
  if (o.region == nullptr) return QUIRE_BAD_ADDRESS;
  if (o.region->about.code != 0)
    return base::explain(QUIRE_INVALID, "the word 0x%lx of an atomic operation lies in code",
                         static_cast<unsigned long>(address));
  if (!o.region->can().atomics) return QUIRE_UNSUPPORTED;
  o.m.unit = o.region->unit_of(address);
  o.m.c = o.region->natural(address) - o.region->address_of(o.m.unit);
  const auto noted = note_memory("an atomic operation", *o.region, o.m.unit);
  o.m.operation = operation;
  o.m.a = a;
  o.m.b = b;
  (void)core_.run(o);
  before = o.m.a;
  return o.result();
}

base::status unit_calls::refusal(const region_slot& r, const char* call) const noexcept {
  if (!core_.config.survives || !r.can().relaxed) return {};
  return base::explain(QUIRE_UNSUPPORTED,
                       "%s: not in a region with release consistency in a job that goes on when a node is lost: set "
                       "QUIRE_ON_FAILURE to end, or make the region with sequential consistency",
                       call);
}

base::status unit_calls::push(std::uint64_t address, std::uint64_t bytes) noexcept {
  call_op o([](core& e, op& self) noexcept {
    auto& call = static_cast<call_op&>(self);
    const std::uint64_t units = call.replies;
    if (call.region.gone()) return self.complete(QUIRE_NOT_FOUND);
    if (call.region->change.frozen) return call.region->change.park(self);
    if (call.region->block != nullptr || !call.region->can().push) return self.complete(QUIRE_UNSUPPORTED);
    e.calls.push_units(call, call.m.unit, call.m.unit + units, false);
  });
  o.region = core_.regions.find(address);
  if (o.region == nullptr || bytes == 0) return {};
  if (!o.region->can().push) return QUIRE_UNSUPPORTED;
  if (const auto why = refusal(*o.region, "quire_push()"); !why.ok()) return why;
  o.m.unit = o.region->unit_of(address);
  const auto noted = note_memory("quire_push()", *o.region, o.m.unit);
  o.replies = o.region->under(address, bytes).count();
  (void)core_.run(o);
  return o.result();
}

base::status unit_calls::produce(std::uint64_t address, std::uint64_t bytes, bool end) noexcept {
  call_op o([](core& e, op& self) noexcept {
    auto& call = static_cast<call_op&>(self);
    if (call.region.gone()) return self.complete(QUIRE_NOT_FOUND);
    if (call.region->change.frozen) return call.region->change.park(self);
    if (call.region->block != nullptr || !call.region->can().push) return self.complete(QUIRE_UNSUPPORTED);
    const std::uint64_t first = call.m.unit, last = first + call.m.c;
    call.m.a != 0 ? e.calls.push_units(call, first, last, true) : e.calls.begin_production(call, first, last);
  });
  o.region = core_.regions.find(address);
  if (o.region == nullptr) return QUIRE_BAD_ADDRESS;
  if (!o.region->can().push) return QUIRE_UNSUPPORTED;
  if (const auto why = refusal(*o.region, "a production phase"); !why.ok()) return why;
  o.m.unit = o.region->unit_of(address);
  const auto noted = note_memory("a production phase", *o.region, o.m.unit);
  o.m.c = o.region->under(address, bytes).count();
  o.m.a = end ? 1 : 0;
  (void)core_.run(o);
  return o.result();
}

void unit_calls::begin_production(call_op& call, std::uint64_t first, std::uint64_t end) noexcept {
  region_slot& r = *call.region;
  core_.protocols.release(core_.protocols.domain_of(r), true);  // afterwards the next write of each copy is noticed
  for (std::uint64_t unit = first; unit < end; ++unit) {
    core_.actions.clear();
    r.machine->pushes().on_produce_begin(unit, core_.actions);
    if (core_.actions.size() != 0) core_.take_step(r);
  }
  core_.perform_steps();
  call.complete();
}

/// All nodes have what was written here when the call ends.
void unit_calls::push_units(call_op& call, std::uint64_t first, std::uint64_t end, bool written_only) noexcept {
  region_slot& r = *call.region;
  model::machine& machine = *r.machine;
  core_.whole.end(r, first, end);
  // A push would wait for the end of a pin that may well be the caller's own.
  for (std::uint64_t unit = first; unit < end; ++unit) {
    if (machine.pins().is_pinned(unit)) return call.complete(QUIRE_BUSY);
  }
  core_.protocols.release(core_.protocols.domain_of(r), true);
  const std::uint64_t token = call.token = core_.tokens.add(call);
  call.pushes = true;
  call.first = first;
  call.units = end - first;
  call.replies = 0;
  ++r.change.calls;
  for (std::uint64_t unit = first; unit < end; ++unit) {
    if (r.bytes_of(unit) == 0) continue;
    if (written_only && !machine.pushes().on_produce_end(unit)) continue;
    ++call.replies;
    core_.actions.clear();
    machine.pushes().on_push(unit, token, core_.actions);
    core_.take_step(r);
  }
  const bool any = call.replies != 0;
  if (!any) {
    (void)core_.tokens.take(token);
    --r.change.calls;
  }
  core_.perform_steps();  // of a job of one node this may be all, and the call may be gone
  if (!any) call.complete();
}

void unit_calls::finish(const message& m) noexcept {
  op* const o = core_.tokens.find(m.token);
  if (o == nullptr || o->what() != op::type::call) return;
  auto& call = static_cast<call_op&>(*o);
  if (m.kind == message_kind::unit_lost || m.kind == message_kind::home_lost) call.why = QUIRE_LOST;
  if (m.kind == message_kind::unit_refused) call.why = store_status::of(static_cast<int>(m.operation));
  if (m.kind == message_kind::service_reply) call.why = base::status_of(m.operation);
  call.m = m;
  if (--call.replies != 0) return;
  if (call.region != nullptr) --call.region->change.calls;
  (void)core_.tokens.take(m.token);
  call.complete(call.why);
}

void unit_calls::on_spread_done(const message& m) noexcept {
  op* const o = core_.tokens.find(m.token);
  if (o == nullptr || o->what() != op::type::call) return;
  auto& call = static_cast<call_op&>(*o);
  if (m.acks > call.replies) return;
  call.replies -= m.acks;
  if (call.replies != 0) return;
  if (call.region != nullptr) --call.region->change.calls;
  (void)core_.tokens.take(m.token);
  call.complete();
}

}  // namespace quire::core
