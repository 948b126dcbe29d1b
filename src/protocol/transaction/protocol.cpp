// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/transaction/protocol.hpp"

#include "protocol/transaction/owners/domain.hpp"
#include "protocol/transaction/owners/machine.hpp"
#include "protocol/transaction/token/domain.hpp"
#include "protocol/transaction/token/machine.hpp"

namespace quire::transaction {
namespace {

using model::message_kind;
using protocol::message_traits;
using protocol::payload;
using protocol::route;

template <class Domain>
std::unique_ptr<protocol::domain> make_domain(const protocol::job& node) {
  return std::make_unique<Domain>(node);
}

}  // namespace

// ---- Commits by owners

namespace owners {
namespace {

/// Units travel by the messages of the sequential protocol.
constexpr message_traits messages[] = {
    {.kind = message_kind::turn_request, .to = route::domain, .counted = false},
    {.kind = message_kind::turn_grant, .to = route::domain, .counted = false},
    {.kind = message_kind::turn_end, .to = route::domain, .counted = false},
    {.kind = message_kind::pause, .to = route::domain, .counted = false},
    {.kind = message_kind::paused, .to = route::domain, .counted = false},
    {.kind = message_kind::resume, .to = route::domain, .counted = false},
};

std::unique_ptr<model::machine> make_machine(const protocol::job& node, const protocol::region_shape& of,
                                             protocol::domain& shared, int& error) {
  auto& all = static_cast<domain&>(shared);
  auto own = base::make_fault<sequential::machine_tables>(node.memory);
  error = own->make(of.units, false);
  if (error != 0) return nullptr;
  sequential::region_shape shape;
  shape.region = of.region;
  shape.self = node.self;
  shape.nodes = model::geometry::of(node.nodes);
  shape.managers = of.managers;
  shape.units = of.units;
  shape.views = &all.views();
  shape.learns = false;
  auto made = std::make_unique<machine>(shape, own->units.data(), own->entries.data(), all, *node.pins,
                                        of.unit_pages * page_bytes);
  made->own(std::move(own));
  return made;
}

constexpr protocol::row the_row{
    .id = id,
    .name = "transactional",
    .can = {.page_out = true, .change = true, .directory = true, .checkpoint = true, .transactions = true},
    .messages = messages,
    .make_domain = make_domain<domain>,
    .make_machine = make_machine,
};

}  // namespace
}  // namespace owners

// ---- Commits by the token

namespace token {
namespace {

constexpr message_traits messages[] = {
    {.kind = message_kind::write_set, .brings = payload::value, .to = route::domain, .counted = false},
    {.kind = message_kind::commits_known, .to = route::domain, .counted = false},
    {.kind = message_kind::token_request, .to = route::domain, .counted = false},
    {.kind = message_kind::token_next, .to = route::domain, .counted = false},
    {.kind = message_kind::token, .to = route::domain, .counted = false},
    {.kind = message_kind::version_request},
    {.kind = message_kind::version_reply, .brings = payload::content, .copied = true},
};

std::unique_ptr<model::machine> make_machine(const protocol::job& node, const protocol::region_shape& of,
                                             protocol::domain& shared, int& error) {
  auto own = base::make_fault<machine_table>(node.memory);
  error = own->units.make(of.units);
  if (error != 0) return nullptr;
  region_shape shape;
  shape.region = of.region;
  shape.self = node.self;
  shape.managers = of.managers;
  shape.units = of.units;
  shape.unit_bytes = of.unit_pages * page_bytes;
  return std::make_unique<machine>(shape, std::move(own), static_cast<domain&>(shared));
}

constexpr protocol::row the_row{
    .id = id,
    .name = "transactional (token)",
    .can = {.tells = true, .transactions = true},
    .messages = messages,
    .make_domain = make_domain<domain>,
    .make_machine = make_machine,
};

}  // namespace
}  // namespace token

const protocol::row& by_owners() noexcept { return owners::the_row; }
const protocol::row& by_token() noexcept { return token::the_row; }

}  // namespace quire::transaction
