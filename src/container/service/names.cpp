// SPDX-License-Identifier: BSD-3-Clause
// Names of containers change: for mounted files, of which programs expect that a name can go, or go to another file,
// while somebody has it open. Node 0 says what a name stands for; who asks it for a change then writes the heads, from
// which lists are made, and until it has told node 0 so ("settled") nobody opens or changes what is concerned.
// Application threads.
#include <cstring>

#include "container/service/service.hpp"
#include "base/detail.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"

namespace quire::api {

using model::message;

base::status container_service::look_up(const std::string& name, facts& into) {
  message m;
  if (const auto why = ask_first(order::look_up, 0, name, m); !why.ok()) return why;
  heads_.store(m.b, std::memory_order_release);
  container_head head;
  if (!read_head(static_cast<std::uint16_t>(m.a), head)) return QUIRE_LOST;
  if (head.there == none) return QUIRE_NOT_FOUND;  // it has just gone
  into = {head.bytes, head.region, head.read_only != 0};
  return {};
}

base::status container_service::facts_of(quire_container c, facts& into) {
  base::status why;
  const opening_ptr o = find("quire_container_bytes", c, why);
  if (o == nullptr) return why;
  into = {o->head->bytes, o->head->region, o->head->read_only != 0};
  return {};
}

base::status container_service::unlink(const std::string& name) {
  if (core_.config.survives) return QUIRE_UNSUPPORTED;
  message m;
  auto call = services::container_call::unlink(around());
  const auto work = [&](steps what) {
    if (what != steps::rewrite) return take_apart(what, call.number());
    __atomic_store_n(&head_of(call.number())->there, unnamed, __ATOMIC_RELEASE);
    return base::status();
  };
  return go(call, name, work, m);
}

base::status container_service::rename(const std::string& from, const std::string& to, bool exclusive) {
  if (core_.config.survives) return QUIRE_UNSUPPORTED;
  message m;
  auto call = services::container_call::rename(around(), exclusive);
  const auto work = [&](steps what) {
    if (what != steps::rewrite) return take_apart(what, call.number());
    container_head& head = *head_of(call.number());
    __atomic_store_n(&head.there, unnamed, __ATOMIC_RELEASE);
    std::strncpy(head.name, to.c_str(), sizeof head.name - 1);
    __atomic_store_n(&head.there, named, __ATOMIC_RELEASE);
    if (call.replaced() != 0) __atomic_store_n(&head_of(call.replaced())->there, unnamed, __ATOMIC_RELEASE);
    return base::status();
  };
  return go(call, from + '\0' + to, work, m);
}

/// Whose opening is the last of a container without a name removes that.
void container_service::finish_opening(std::uint16_t number) {
  message m;
  auto call = services::container_call::finish(around(), order::closed, number);
  (void)go(
      call, {}, [&](steps what) { return take_apart(what, number); }, m);
}

/// Nobody has it open, and it has no name.
base::status container_service::take_apart(steps what, std::uint16_t number) {
  container_head& head = *head_of(number);
  if (what == steps::withdraw) return withdraw(head, number), base::status();
  const auto why = regions_.others().destroy({head.region});
  if (!why.ok()) {
    base::log(base::log_level::warning, "container '%s' was removed by a program, and cannot go: %s", head.name,
              base::detail());
  }
  return why;
}

}  // namespace quire::api
