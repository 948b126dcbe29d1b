// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/sequential/protocol.hpp"

#include "protocol/sequential/domain.hpp"
#include "protocol/sequential/machine.hpp"

namespace quire::sequential {
namespace {

using model::message_kind;
using protocol::awaits;
using protocol::message_traits;
using protocol::payload;
using protocol::route;

constexpr message_traits messages[] = {
    {.kind = message_kind::read_request},
    {.kind = message_kind::write_request},
    {.kind = message_kind::atomic_request, .tells = true, .orders = true},
    {.kind = message_kind::push_request},
    {.kind = message_kind::done},
    {.kind = message_kind::copy_dropped, .of_units = awaits::turn},
    {.kind = message_kind::fetch_read},
    {.kind = message_kind::fetch_write},
    {.kind = message_kind::fetch_push},
    {.kind = message_kind::atomic_fetch, .orders = true},
    {.kind = message_kind::invalidate},
    {.kind = message_kind::read_reply, .brings = payload::content, .orders = true},
    {.kind = message_kind::write_reply, .brings = payload::content, .orders = true},
    {.kind = message_kind::write_grant},
    {.kind = message_kind::atomic_reply, .counted = false, .orders = true},
    {.kind = message_kind::invalidate_ack},
    {.kind = message_kind::push_copy, .brings = payload::content, .orders = true},
    {.kind = message_kind::push_ack},
    {.kind = message_kind::push_reply},
    {.kind = message_kind::owner_here, .to = route::own},
    {.kind = message_kind::survives, .of_units = awaits::nothing},
    {.kind = message_kind::owner_is, .of_units = awaits::nothing},
    {.kind = message_kind::unit_lost},
    {.kind = message_kind::unit_refused, .of_units = awaits::turn},
    {.kind = message_kind::replica, .brings = payload::replica},
    {.kind = message_kind::replica_ack},
};

std::unique_ptr<protocol::domain> make_domain(const protocol::job&) { return std::make_unique<domain>(); }

std::unique_ptr<model::machine> make_machine(const protocol::job& node, const protocol::region_shape& of,
                                             protocol::domain& shared, int& error) {
  auto& all = static_cast<domain&>(shared);
  auto own = base::make_fault<machine_tables>(node.memory);
  const bool on_two_nodes = node.replicas && !of.stored;  // whoever has the store is the second
  error = own->make(of.units, on_two_nodes);
  if (error != 0) return nullptr;
  region_shape shape;
  shape.region = of.region;
  shape.self = node.self;
  shape.nodes = model::geometry::of(node.nodes);
  shape.managers = of.managers;
  shape.units = of.units;
  shape.members = node.members;
  shape.learns = node.learn_writes;
  shape.stored = of.stored;
  shape.refills = of.refills;
  shape.hosts = of.hosts;
  shape.pages_out = node.pages_out;
  shape.one_memory = of.one_memory;
  if (on_two_nodes) shape.replicas = {own->replicas.data(), &own->book, &all.rounds};
  auto made = std::make_unique<machine>(shape, own->units.data(), own->entries.data(), all.requests, *node.pins);
  made->own(std::move(own));
  return made;
}

constexpr protocol::row the_row{
    .id = id,
    .name = "sequential",
    .can = {.advice = true,
            .atomics = true,
            .pins = true,
            .push = true,
            .page_out = true,
            .change = true,
            .directory = true,
            .block = true,
            .checkpoint = true,
            .survive = true,
            .replicas = true,
            .stores = true,
            .host_frames = true},
    .messages = messages,
    .make_domain = make_domain,
    .make_machine = make_machine,
};

}  // namespace

const protocol::row& row() noexcept { return the_row; }

}  // namespace quire::sequential
