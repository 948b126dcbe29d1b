// SPDX-License-Identifier: BSD-3-Clause
#include "core/services.hpp"

#include "base/log.hpp"
#include "base/status_number.hpp"
#include "core/call_table.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/counters.hpp"
#include "core/inbox.hpp"
#include "core/ops.hpp"
#include "core/outbox.hpp"
#include "core/thread_state.hpp"
#include "model/membership.hpp"

namespace quire::core {

using model::message;
using model::message_kind;
using model::node_id;

void service_table::set(std::uint32_t number, handler what, void* context, const char* name) noexcept {
  CHECK(number < most);
  entries_[number] = {what, context, name};
}

base::status core::ask(node_id to, std::uint32_t service, message& m, std::span<const std::byte> value,
                       std::int64_t timeout_ms) noexcept {
  struct ask_op : call_op {
    using call_op::call_op;
    std::span<const std::byte> value{};
  } o([](core& e, op& self) noexcept {
    auto& ask = static_cast<ask_op&>(self);
    if (e.members.is_dead(ask.to)) return self.complete(QUIRE_LOST);
    ask.token = e.tokens.add(self);
    ask.m.token = ask.token;
    e.out.synchronise(ask.to, ask.m, ask.value, model::edge::releases);
  });
  CHECK(value.size() <= inbox::value_bytes);
  o.m = m;
  o.m.kind = message_kind::service_request;
  o.m.operation = service;
  o.m.from = o.m.requester = config.self;
  o.m.payload_bytes = static_cast<std::uint32_t>(value.size());
  o.to = to;
  o.value = value;
  wait_note& n = this_thread().wants;
  const char* const name = services.name_of(service);
  const note_scope noted(n, waits::what::answer, name != nullptr ? name : some_call);
  n.node = to.value();
  if (!run(o, timeout_ms)) {
    struct cancel_op : op {
      using op::op;
      ask_op* what = nullptr;
    } cancel(
        [](core& e, op& self) noexcept {
          ask_op& late = *static_cast<cancel_op&>(self).what;
          if (e.tokens.take(late.token) != nullptr) late.complete(QUIRE_TIMED_OUT);
          self.complete();
        },
        op::type::call);
    cancel.what = &o;
    (void)run(cancel);  // afterwards `o` is done, one way or the other
    CHECK(o.done());
  }
  m = o.m;
  return o.result();
}

void service_table::on_message(const message& m, std::span<const std::byte> value) noexcept {
  core_.acquire();
  if (m.kind == message_kind::service_reply) return core_.out.complete_call(m);
  const entry* const s = m.operation < most ? &entries_[m.operation] : nullptr;
  if (s == nullptr || s->what == nullptr) {
    ++core_.count.refused;
    base::log(base::log_level::warning, "node %u asks for service %u, which is not there",
              static_cast<unsigned>(m.from.value()), m.operation);
    if (m.kind == message_kind::service_request) core_.answer(m, QUIRE_UNSUPPORTED);
    return;
  }
  s->what(s->context, core_, m, value);
}

void core::answer(const message& request, base::status why, std::uint64_t a, std::uint64_t b) noexcept {
  message m;
  m.kind = message_kind::service_reply;
  m.operation = static_cast<std::uint32_t>(why.code());
  m.from = config.self;
  m.requester = request.requester;
  m.token = request.token;
  m.a = a;
  m.b = b;
  out.synchronise(request.requester, m, {}, model::edge::releases);
}

void core::notify(node_id to, std::uint32_t service, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                  std::span<const std::byte> value) noexcept {
  message m;
  m.kind = message_kind::service_notice;
  m.operation = service;
  m.from = m.requester = config.self;
  m.a = a;
  m.b = b;
  m.c = c;
  m.payload_bytes = static_cast<std::uint32_t>(value.size());
  out.synchronise(to, m, value, model::edge::releases);
}

}  // namespace quire::core
