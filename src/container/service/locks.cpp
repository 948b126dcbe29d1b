// SPDX-License-Identifier: BSD-3-Clause
// Locks of mounted files: node 0 has them (services/containers.hpp). A lock goes when its owner's mount says so, or
// when its node is lost.
#include "container/service/service.hpp"
#include "core/configuration.hpp"
#include "region/services.hpp"

namespace quire::api {

using container::lock_kind;
using container::range_lock;
using model::message;
using services::container_lock;

base::status container_service::ask_lock(order what, quire_container c, range_lock& wanted, container::lock_wait how,
                                         message& m) {
  base::status why;
  const opening_ptr o = find("fcntl", c, why);
  if (o == nullptr) return why;
  wanted.owner.node = core_.config.self.value();
  m = {};
  m.a = static_cast<std::uint64_t>(what);
  m.b = o->number;
  const container_lock asked{wanted, how};
  return core_.ask(model::node_id{0}, static_cast<std::uint32_t>(region::service::container), m,
                   std::as_bytes(std::span(&asked, 1)));
}

base::status container_service::lock(quire_container c, range_lock wanted, container::lock_wait how) {
  message m;
  return ask_lock(order::lock, c, wanted, how, m);
}

base::status container_service::test_lock(quire_container c, range_lock& wanted) {
  message m;
  const auto why = ask_lock(order::test_lock, c, wanted, {}, m);
  if (!why.ok()) return why;
  wanted.kind = (m.a & container_lock::exclusive) != 0 ? lock_kind::exclusive : lock_kind::shared;
  wanted.first = m.a & ~container_lock::exclusive;
  wanted.last = m.b;
  return {};
}

}  // namespace quire::api
