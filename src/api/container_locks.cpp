// SPDX-License-Identifier: BSD-3-Clause
// Locks of mounted files (container/lock_queue.hpp): node 0 has them. A lock goes when its owner's mount says so; when
// a mount dies, so does the job.
#include <cstring>

#include "api/container_service.hpp"
#include "core/configuration.hpp"
#include "region/services.hpp"

namespace quire::api {

using container::lock_kind;
using container::lock_queue;
using container::range_lock;
using model::message;

namespace {
constexpr std::uint64_t top = std::uint64_t{1} << 63;  ///< of an answer; no file has a byte of that number

/// What travels.
struct lock_request {
  range_lock wanted{};
  container::lock_wait how{};
};
}  // namespace

/// The driver of node 0.
void container_service::on_lock(const message& m, std::span<const std::byte> value) {
  lock_request asked;
  if (value.size() != sizeof asked) return core_.answer(m, QUIRE_INVALID);
  std::memcpy(&asked, value.data(), sizeof asked);
  const range_lock& wanted = asked.wanted;
  const auto number = static_cast<std::uint16_t>(m.b);
  if (static_cast<order>(m.a) == order::test_lock) {
    const range_lock* const other = locks_.conflict(number, wanted);
    if (other == nullptr) return core_.answer(m, QUIRE_NOT_FOUND);
    return core_.answer(m, {}, other->first | (other->kind == lock_kind::exclusive ? top : 0), other->last);
  }
  switch (locks_.set(number, wanted, asked.how)) {
    case lock_queue::outcome::done:
      return core_.answer(m, {});
    case lock_queue::outcome::in_the_way:
      return core_.answer(m, QUIRE_BUSY);
    case lock_queue::outcome::full:
      return core_.answer(m, QUIRE_LIMIT);
    case lock_queue::outcome::deadlock:
      return core_.answer(m, QUIRE_CONFLICT);
  }
}

base::status container_service::ask_lock(order what, quire_container c, range_lock& wanted, container::lock_wait how,
                                         message& m) {
  base::status why;
  const opening_ptr o = find("fcntl", c, why);
  if (o == nullptr) return why;
  wanted.owner.node = core_.config.self.value();
  m = {};
  m.a = static_cast<std::uint64_t>(what);
  m.b = o->number;
  const lock_request asked{wanted, how};
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
  wanted.kind = (m.a & top) != 0 ? lock_kind::exclusive : lock_kind::shared;
  wanted.first = m.a & ~top;
  wanted.last = m.b;
  return {};
}

}  // namespace quire::api
