// SPDX-License-Identifier: BSD-3-Clause
// Messages in and out: content lands in the system view, machines take the message, replies leave. Driver's thread only.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/log.hpp"
#include "base/status_number.hpp"
#include "core/core.hpp"
#include "core/payloads.hpp"
#include "core/thread_state.hpp"
#include "model/atomic_operation.hpp"
#include "sync/kinds.hpp"

namespace quire::core {

using model::action;
using model::message;
using model::message_kind;
using model::node_id;

namespace {
bool is_of_memory(message_kind k) noexcept {
  return k == message_kind::diffs || k == message_kind::diffs_ack || k == message_kind::notices || k == message_kind::room ||
         k == message_kind::spread || k == message_kind::spread_ack || k == message_kind::spread_done;
}
bool is_of_units(message_kind k) noexcept {
  return k > message_kind::invalid && k < message_kind::sync_first;
}
/// Of these, who asks waits for the reply, and is known to wait (change_state::calls).
bool is_of_call(message_kind k) noexcept {
  return k == message_kind::atomic_reply || k == message_kind::home_atomic || k == message_kind::home_atomic_reply;
}
/// Messages between nodes that synchronise threads by a unit, and take memory along as those of src/sync do.
bool is_of_pins(message_kind k) noexcept {
  return k == message_kind::pin_grant || k == message_kind::pin_end || k == message_kind::spread_request;
}
/// Whether a message has to be taken by a node where all threads compute. An arrival at a collective call has not, as a thread
/// of that node will come to it; nor what tells of writes, as whoever shall see them is told by a message behind it; nor an offer, which
/// nobody waits for.
transport::urgency urgency_of(const message& m, bool pair) noexcept {
  const bool sync = m.kind >= message_kind::sync_first && m.kind <= message_kind::sync_last;
  const bool later = (sync && sync::kind_of(m.kind) == sync::kind::gather) || m.kind == message_kind::notices || m.kind == message_kind::update ||
                     m.kind == message_kind::home_offer ||
                     (m.kind == message_kind::diffs_ack && pair);
  return later ? transport::urgency::later : transport::urgency::now;
}
}  // namespace

void core::deliver(const message& m) noexcept {
  watch_.heard(m.from.value());
  if (m.payload_bytes == 0) {  // else place() has looked at it
    if (const char* const why = fault_of(m); why != nullptr) refuse(m, why);
  }
  if (m.kind == message_kind::diffs || m.kind == message_kind::patch) return diffs_.deliver(m);
  if (m.kind == message_kind::update) {
    return updates_.with(m, [&](std::span<const std::byte> content) { handle_update(m, content); });
  }
  if (m.kind == message_kind::replica) {
    return replicas_.arriving.with(m, [&](std::span<const std::byte> content) { handle_replica(m, content); });
  }
  if (m.kind == message_kind::spread) return spread_.deliver(m);
  handle(m, std::span<const std::byte>(landing_).first(payload_of(m.kind) == payload::content ? 0 : m.payload_bytes));
}

void core::handle(const message& m, std::span<const std::byte> value) noexcept {
  if (config_.survives && take_recovery(m, value)) return;
  if (is_of_memory(m.kind)) {
    handle_memory(m, value);
  } else if (is_of_units(m.kind)) {
    handle_units(m);
  } else if (m.kind >= message_kind::sync_first && m.kind <= message_kind::sync_last) {
    handle_sync(m, value);
  } else if (m.kind == message_kind::watch) {
    handle_watch(m);
  } else if (m.kind != message_kind::recovery) {
    handle_service(m, value);
  }
}

/// A change of consistency tells nodes things that may come before they have changed over themselves.
model::machine& core::machine_for(region_slot& r, message_kind k) noexcept {
  if (k == message_kind::home_move && r.made.release != nullptr) return *r.made.release;
  if (k == message_kind::owner_here && r.made.sequential != nullptr) return *r.made.sequential;
  return *r.machine;
}

void core::handle_units(const message& m) noexcept {
  region_slot* const r = regions_.slot(m.region);
  if (r == nullptr || !lies_in(*r, m)) refuse(m, "there are no such units");
  stamp(fault_trace::point::received, m.region.value(), m.unit);
  if (!is_of_call(m.kind)) r->change.received += m.count;
  if (m.kind == message_kind::please_take) return take_over(*r, m);
  if (m.kind == message_kind::home_offer) return take_homes(*r, m);
  if (payload_of(m.kind) == payload::content && m.payload_bytes != 0) frames_.landed(*r, m.unit, m.count);
  if (m.kind == message_kind::pin_grant) consistency_.acquire_pin(m.from, m.region, m.unit);
  model::machine& machine = machine_for(*r, m.kind);
  message one = m;
  one.count = 1;
  for (std::uint32_t i = 0; i < m.count; ++i) {
    one.unit = m.unit + i;
    actions_.clear();
    machine.on_message(one, actions_);
    performer_.take(*r, actions_);
  }
  stamp(fault_trace::point::decided, m.region.value(), m.unit);
  performer_.flush();
}

void core::send(node_id to, const message& m, std::span<const std::byte> value) noexcept {
  if (to == config_.self) {
    local_.push(m, value);
  } else {
    post(to, m, value, urgency_of(m, config_.nodes == 2));
  }
}

void core::send_units(region_slot& r, node_id to, const message& m, std::uint64_t first, std::uint64_t count,
                        bool with_content) noexcept {
  diffs_.send_all();  // a request does not overtake the diff that it is to see
  if (m.kind == message_kind::spread) return spread_.add(r, first, count, m.requester, m.token);
  message out = m;
  out.unit = first;
  out.count = static_cast<std::uint32_t>(count);
  if (!is_of_call(m.kind)) r.change.sent += count;
  if (m.kind == message_kind::home_atomic) {
    later_.push_back({to, out, m.requester == config_.self ? model::edge::releases : model::edge::carries});
    return;
  }
  if (is_of_pins(m.kind)) {
    const bool releases = m.kind == message_kind::pin_grant ? m.b != 0 : m.requester == config_.self;
    const std::uint64_t each = m.kind == message_kind::pin_grant ? 1 : count;  // a grant brings the content of its unit
    out.count = static_cast<std::uint32_t>(each);
    for (; out.unit < first + count; out.unit += each) later_.push_back({to, out, releases ? model::edge::releases : model::edge::carries});
    return;
  }
  if (m.kind == message_kind::atomic_request && hold_back(to, out, {}, true)) return;
  // Whoever does an atomic operation there may count on what was released here.
  if (m.kind == message_kind::home_move && (m.flags & model::message_flag::take) != 0) consistency_.tell(to);
  if (!with_content) return send(to, out, {});
  CHECK(to != config_.self);
  stamp(fault_trace::point::replied, r.about.id, first);
  out.payload_bytes = static_cast<std::uint32_t>(r.bytes_of(count));
  const bool twin = (out.flags & (model::message_flag::base | model::message_flag::as_told)) != 0;
  if (!twin) frames_.use(r, first, count, content::sent);
  // In a block that is checked a copy is what was before it, whatever threads here write while it travels.
  bool changes = !twin && r.block != nullptr && r.block->checked;
  for (std::uint64_t unit = first; !twin && unit < first + count; ++unit) changes |= r.machine->mapped(unit) == model::access::write;
  post(to, out, {twin ? r.twin(first) : r.system(first), out.payload_bytes}, urgency_of(out, config_.nodes == 2),
       changes ? transport::lasting::now : transport::lasting::until_sent);
}

/// Atomic operation on the content, through the system view: it is the same memory as the application view.
void core::operate(region_slot& r, const action& a) noexcept {
  message m = a.m;
  if (m.c > r.bytes_of(1) - sizeof(std::uint64_t) || m.c % sizeof(std::uint64_t) != 0) refuse(m, "there is no word at that offset of the unit");
  frames_.use(r, a.unit, 1, content::changed);
  std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(r.system(a.unit) + m.c));
  const std::uint64_t operand = m.a, desired = m.b;
  switch (static_cast<model::atomic_operation>(m.operation)) {
    case model::atomic_operation::add: m.a = word.fetch_add(m.a); break;
    case model::atomic_operation::exchange: m.a = word.exchange(m.a); break;
    case model::atomic_operation::compare_exchange: {
      std::uint64_t before = m.a;
      word.compare_exchange_strong(before, m.b);
      m.a = before;
      break;
    }
  }
  const bool here = a.kind == model::action_kind::operate_here;
  if (r.release == nullptr) {
    if (here) return complete_call(m);
    return hold_back(a.to, m, {}, true) ? void() : send(a.to, m, {});
  }
  const auto what = static_cast<model::atomic_operation>(m.operation);
  if (model::apply(what, m.a, operand, desired) != m.a) r.release->on_operated(a.unit);
  // Who sees a value that a thread here has left sees what that thread wrote before.
  later_.push_back({a.to, m, here ? model::edge::none : model::edge::releases});
}

void core::complete_call(const message& m) noexcept {
  if (m.kind == message_kind::home_atomic_reply) {
    later_.push_back({config_.self, m, model::edge::none});
  } else {
    finish_call(m);
  }
}

void core::finish_call(const message& m) noexcept {
  op* const o = calls_.find(m.token);
  if (o == nullptr || o->what() != op::type::call) return;
  auto& call = static_cast<call_op&>(*o);
  if (m.kind == message_kind::unit_lost) call.why = QUIRE_LOST;
  if (m.kind == message_kind::service_reply) call.why = base::status_of(m.operation);
  call.m = m;
  if (--call.replies != 0) return;
  if (call.region != nullptr) --call.region->change.calls;
  (void)calls_.take(m.token);
  call.complete(call.why);
}

void core::handle_service(const message& m, std::span<const std::byte> value) noexcept {
  consistency_.acquire();
  if (m.kind == message_kind::service_reply) return complete_call(m);
  const service_entry* const s = m.operation < max_services ? &services_[m.operation] : nullptr;
  if (s == nullptr || s->handler == nullptr) {
    ++count_.refused;
    base::log(base::log_level::warning, "node %u asks for service %u, which is not there", static_cast<unsigned>(m.from.value()), m.operation);
    if (m.kind == message_kind::service_request) answer(m, QUIRE_UNSUPPORTED);
    return;
  }
  s->handler(s->context, *this, m, value);
}

void core::set_service(std::uint32_t number, service_handler handler, void* context, const char* name) noexcept {
  CHECK(number < max_services);
  services_[number] = {handler, context, name};
}

base::status core::ask(node_id to, std::uint32_t number, message& m, std::span<const std::byte> value,
                         std::int64_t timeout_ms) noexcept {
  struct ask_op : call_op {
    using call_op::call_op;
    std::span<const std::byte> value{};
  } o([](core& e, op& self) noexcept {
    auto& ask = static_cast<ask_op&>(self);
    if (e.survival_.members.is_dead(ask.to)) return self.complete(QUIRE_LOST);
    ask.token = e.calls_.add(self);
    ask.m.token = ask.token;
    e.synchronise(ask.to, ask.m, ask.value, model::edge::releases);
  });
  CHECK(value.size() <= landing_.size());
  o.m = m;
  o.m.kind = message_kind::service_request;
  o.m.operation = number;
  o.m.from = o.m.requester = config_.self;
  o.m.payload_bytes = static_cast<std::uint32_t>(value.size());
  o.to = to;
  o.value = value;
  wait_note& n = t_thread.wants;
  const char* const name = number < max_services ? services_[number].name : nullptr;
  const note_scope noted(n, waits::what::answer, name != nullptr ? name : some_call);
  n.node = to.value();
  if (!run(o, timeout_ms)) {
    struct cancel_op : op {
      using op::op;
      ask_op* what = nullptr;
    } cancel([](core& e, op& self) noexcept {
      ask_op& late = *static_cast<cancel_op&>(self).what;
      if (e.calls_.take(late.token) != nullptr) late.complete(QUIRE_TIMED_OUT);
      self.complete();
    }, op::type::call);
    cancel.what = &o;
    (void)run(cancel);  // afterwards `o` is done, one way or the other
    CHECK(o.done());
  }
  m = o.m;
  return o.result();
}

void core::answer(const message& request, base::status why, std::uint64_t a, std::uint64_t b) noexcept {
  message m;
  m.kind = message_kind::service_reply;
  m.operation = static_cast<std::uint32_t>(why.code());
  m.from = config_.self;
  m.requester = request.requester;
  m.token = request.token;
  m.a = a;
  m.b = b;
  synchronise(request.requester, m, {}, model::edge::releases);
}

void core::notify(node_id to, std::uint32_t number, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                    std::span<const std::byte> value) noexcept {
  message m;
  m.kind = message_kind::service_notice;
  m.operation = number;
  m.from = m.requester = config_.self;
  m.a = a;
  m.b = b;
  m.c = c;
  m.payload_bytes = static_cast<std::uint32_t>(value.size());
  synchronise(to, m, value, model::edge::releases);
}

base::status core::atomic(std::uint64_t address, std::uint32_t operation, std::uint64_t a, std::uint64_t b,
                            std::uint64_t& before) noexcept {
  call_op o([](core& e, op& self) noexcept {
    auto& call = static_cast<call_op&>(self);
    if (call.region->change.frozen) return e.park(*call.region, self);
    ++call.region->change.calls;
    call.token = e.calls_.add(self);
    call.m.token = call.token;
    if (call.region->release != nullptr) e.consistency_.release();
    if (e.config_.survives) call.to = call.region->sequential->manager_of(call.m.unit);
    e.actions_.clear();
    call.region->machine->on_atomic(call.m, e.actions_);
    e.performer_.take(*call.region, e.actions_);
    e.performer_.flush();
  });
  o.region = regions_.find(address);
  o.m.unit = o.region->unit_of(address);
  o.m.c = address - o.region->about.base - (o.m.unit << o.region->unit_shift);
  const auto noted = note_memory("an atomic operation", *o.region, o.m.unit);
  o.m.operation = operation;
  o.m.a = a;
  o.m.b = b;
  (void)run(o);
  before = o.m.a;
  return o.result();
}

base::status core::push(std::uint64_t address, std::uint64_t bytes) noexcept {
  call_op o([](core& e, op& self) noexcept {
    auto& call = static_cast<call_op&>(self);
    const std::uint64_t units = call.replies;
    if (call.region->change.frozen) return e.park(*call.region, self);
    if (call.region->block != nullptr) return self.complete(QUIRE_UNSUPPORTED);
    if (call.region->release != nullptr) return e.push_units(call, call.m.unit, call.m.unit + units, false);
    // A push takes the right to write, and would wait for the end of a pin that may well be the caller's own.
    for (std::uint64_t i = 0; i < units; ++i) {
      if (call.region->sequential->unit(call.m.unit + i).pinned != 0) return self.complete(QUIRE_BUSY);
    }
    ++call.region->change.calls;
    call.pushes = true;
    call.first = call.m.unit;
    call.units = units;
    call.token = e.calls_.add(self);
    for (std::uint64_t i = 0; i < units; ++i) {
      e.actions_.clear();
      call.region->sequential->on_push(call.m.unit + i, call.token, e.actions_);
      e.performer_.take(*call.region, e.actions_);
    }
    e.performer_.flush();
  });
  o.region = regions_.find(address);
  if (o.region == nullptr || bytes == 0) return {};
  o.m.unit = o.region->unit_of(address);
  const auto noted = note_memory("quire_push()", *o.region, o.m.unit);
  o.replies = o.region->unit_of(address + bytes - 1) - o.m.unit + 1;
  (void)run(o);
  return o.result();
}

base::status core::produce(std::uint64_t address, std::uint64_t bytes, bool end) noexcept {
  call_op o([](core& e, op& self) noexcept {
    auto& call = static_cast<call_op&>(self);
    if (call.region->change.frozen) return e.park(*call.region, self);
    if (call.region->block != nullptr) return self.complete(QUIRE_UNSUPPORTED);
    const std::uint64_t first = call.m.unit, last = first + call.m.c;
    const bool ends = call.m.a != 0;
    if (call.region->release != nullptr) {
      return ends ? e.push_units(call, first, last, true) : e.begin_production(call, first, last);
    }
    sequential::machine& machine = *call.region->sequential;
    for (std::uint64_t unit = first; unit < last; ++unit) {
      if (ends && machine.unit(unit).pinned != 0) return self.complete(QUIRE_BUSY);
    }
    const std::uint64_t token = call.token = e.calls_.add(self);
    call.replies = 0;
    for (std::uint64_t unit = first; unit < last; ++unit) {
      e.actions_.clear();
      if (!ends) {
        machine.on_produce_begin(unit, e.actions_);
      } else if (machine.on_produce_end(unit)) {
        ++call.replies;
        machine.on_push(unit, token, e.actions_);
      }
      if (e.actions_.size() != 0) e.performer_.take(*call.region, e.actions_);
    }
    e.performer_.flush();
    if (call.replies != 0) {
      call.pushes = true;
      call.first = first;
      call.units = last - first;
      ++call.region->change.calls;
      return;
    }
    (void)e.calls_.take(token);
    self.complete();
  });
  o.region = regions_.find(address);
  if (o.region == nullptr) return QUIRE_BAD_ADDRESS;
  o.m.unit = o.region->unit_of(address);
  const auto noted = note_memory("a production phase", *o.region, o.m.unit);
  o.m.c = o.region->unit_of(address + bytes - 1) - o.m.unit + 1;
  o.m.a = end ? 1 : 0;
  (void)run(o);
  return o.result();
}

}  // namespace quire::core
