// SPDX-License-Identifier: BSD-3-Clause
#include "services/node/names.hpp"

#include <cstring>

#include "services/node/answering.hpp"
#include "base/detail.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/services.hpp"
#include "core/survival.hpp"
#include "region/services.hpp"

namespace quire::api {

using model::message;
using region::service;

bool is_name(const char* call, const char* name) noexcept {
  const std::size_t length = name == nullptr ? 0 : ::strnlen(name, longest_public_name + 1);
  if (length != 0 && length <= longest_public_name) return true;
  (void)base::explain(QUIRE_INVALID, "%s(): the name %s", call,
                      name == nullptr ? "is NULL"
                      : length == 0   ? "is empty"
                                      : "has more than 63 characters");
  return false;
}

name_service::name_service(core::core& e) : core_(e) {
  e.services.set(
      static_cast<std::uint32_t>(service::publish),
      [](void* self, core::core&, const message& m, auto v) noexcept {
        static_cast<name_service*>(self)->on_publish(m, text_of(v));
      },
      this, "quire_publish");
  e.services.set(
      static_cast<std::uint32_t>(service::lookup),
      [](void* self, core::core&, const message& m, auto v) noexcept {
        static_cast<name_service*>(self)->on_lookup(m, text_of(v));
      },
      this, "quire_lookup");
  if (!e.config.survives) return;
  e.survival.on_deaths(
      [](void* self, unsigned node) noexcept {
        static_cast<name_service*>(self)->names_.on_death(model::node_id{static_cast<std::uint16_t>(node)});
      },
      this, false);
}

base::status name_service::publish(const char* name, std::uint64_t value) {
  if (!is_name("quire_publish", name)) return QUIRE_INVALID;
  const std::string text(name);  // a copy: the name may lie in shared memory
  message m;
  m.a = value;
  return core_.ask(model::node_id{0}, static_cast<std::uint32_t>(service::publish), m,
                   std::as_bytes(std::span(text.data(), text.size())));
}

base::status name_service::lookup(const char* name, std::int64_t timeout_ms, std::uint64_t& value) {
  if (!is_name("quire_lookup", name)) return QUIRE_INVALID;
  const std::string text(name);
  message m;
  m.a = timeout_ms != 0 ? 1 : 0;  // whether the answer may wait
  const auto why = core_.ask(model::node_id{0}, static_cast<std::uint32_t>(service::lookup), m,
                             std::as_bytes(std::span(text.data(), text.size())), timeout_ms == 0 ? -1 : timeout_ms);
  if (why.ok()) value = m.a;
  if (why == QUIRE_TIMED_OUT) {
    core_.as_driver(
        [&] { core_.notify(model::node_id{0}, static_cast<std::uint32_t>(service::lookup), m.token, 0, 0, {}); });
  }
  return why;
}

/// Node 0.
void name_service::on_publish(const message& m, std::string_view name) {
  services::answers out;
  names_.on_publish(m, services::names::name_of(name), out);
  send(core_, out);
}

/// Node 0. A notice is of a call that waits no more.
void name_service::on_lookup(const message& m, std::string_view name) {
  if (m.kind == model::message_kind::service_notice) {
    message which = m;
    which.token = m.a;
    return names_.on_withdrawn(which);
  }
  services::answers out;
  names_.on_lookup(m, services::names::name_of(name), out);
  send(core_, out);
}

std::vector<std::pair<std::string, std::uint64_t>> name_service::save() {
  base::fault_map<services::names::name, std::uint64_t> now;
  core_.as_driver([&] { now = names_.all(); });
  std::vector<std::pair<std::string, std::uint64_t>> all;
  for (const auto& [name, value] : now) all.emplace_back(name.data(), value);
  return all;
}

void name_service::load(std::span<const std::pair<std::string, std::uint64_t>> names) {
  core_.as_driver([&] {
    services::answers out;
    for (const auto& [name, value] : names) names_.on_restored(services::names::name_of(name), value, out);
    send(core_, out);
  });
}

}  // namespace quire::api
