// SPDX-License-Identifier: BSD-3-Clause
#include "api/names.hpp"

#include <cstring>

#include "base/detail.hpp"
#include "core/core.hpp"
#include "core/services.hpp"
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
        static_cast<name_service*>(self)->on_publish(m, key_of(text_of(v)));
      },
      this, "quire_publish");
  e.services.set(
      static_cast<std::uint32_t>(service::lookup),
      [](void* self, core::core&, const message& m, auto v) noexcept {
        static_cast<name_service*>(self)->on_lookup(m, key_of(text_of(v)));
      },
      this, "quire_lookup");
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
  return why;
}

name_service::key name_service::key_of(std::string_view name) noexcept {
  key made{};
  name.copy(made.data(), longest_public_name);
  return made;
}

void name_service::on_publish(const message& m, const key& name) {
  const bool added = names_.emplace(name, m.a).second;
  core_.answer(m, added ? QUIRE_OK : QUIRE_EXISTS);
  if (!added) return;
  std::erase_if(waiting_, [&](const waiting& w) {
    if (w.name != name) return false;
    core_.answer(w.m, QUIRE_OK, m.a);
    return true;
  });
}

void name_service::forget(std::uint64_t base, std::uint64_t bytes) noexcept {
  std::erase_if(names_, [&](const auto& one) { return one.second - base < bytes; });
}

std::vector<std::pair<std::string, std::uint64_t>> name_service::save() {
  base::fault_map<key, std::uint64_t> now;
  core_.as_driver([&] { now = names_; });
  std::vector<std::pair<std::string, std::uint64_t>> all;
  for (const auto& [name, value] : now) all.emplace_back(name.data(), value);
  return all;
}

void name_service::load(std::span<const std::pair<std::string, std::uint64_t>> names) {
  core_.as_driver([&] {
    for (const auto& [name, value] : names) names_.emplace(key_of(name), value);
  });
}

void name_service::on_lookup(const message& m, const key& name) {
  if (const auto found = names_.find(name); found != names_.end()) return core_.answer(m, QUIRE_OK, found->second);
  if (m.a == 0) return core_.answer(m, QUIRE_NOT_FOUND);
  waiting_.push_back({name, m});
}

}  // namespace quire::api
