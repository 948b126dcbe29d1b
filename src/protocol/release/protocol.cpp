// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/protocol.hpp"

#include "protocol/release/machine.hpp"
#include "protocol/release/node.hpp"

namespace quire::release {
namespace {

using model::message_kind;
using protocol::awaits;
using protocol::message_traits;
using protocol::passage;
using protocol::payload;
using protocol::route;

// Content is copied before it leaves: threads here may write it meanwhile, and later patches change the twin of a kept
// unit, with which the patches behind the copy begin.
constexpr message_traits messages[] = {
    {.kind = message_kind::copy_request},
    {.kind = message_kind::copy_reply, .brings = payload::content, .copied = true},
    {.kind = message_kind::update, .brings = payload::offer, .later = true, .copied = true},
    {.kind = message_kind::patch, .brings = payload::entries, .later = true},
    {.kind = message_kind::update_unused, .of_units = awaits::turn},
    {.kind = message_kind::diffs, .brings = payload::entries, .to = route::part, .later_if_said = true},
    {.kind = message_kind::diffs_ack, .to = route::part, .later_if_said = true},
    {.kind = message_kind::home_move,
     .brings = payload::content,
     .to = route::own,
     .copied = true,
     .domain_sees = true},
    {.kind = message_kind::home_offer, .to = route::page_out, .later = true},
    {.kind = message_kind::home_atomic, .leaves = passage::asked_for, .counted = false},
    {.kind = message_kind::home_atomic_reply, .counted = false, .acquires = true},
    {.kind = message_kind::notices, .brings = payload::value, .to = route::domain, .later_if_said = true},
    {.kind = message_kind::pin_request},
    {.kind = message_kind::pin_grant,
     .brings = payload::content,
     .leaves = passage::as_said,
     .one_by_one = true,
     .copied = true,
     .domain_sees = true},
    {.kind = message_kind::pin_end, .leaves = passage::asked_for},
    {.kind = message_kind::pin_next},
    {.kind = message_kind::home_survives, .of_units = awaits::nothing},
    {.kind = message_kind::home_settled, .of_units = awaits::nothing},
    {.kind = message_kind::home_lost},
    {.kind = message_kind::spread_request, .leaves = passage::asked_for},
    {.kind = message_kind::spread, .brings = payload::spread, .to = route::part},
    {.kind = message_kind::spread_ack, .to = route::part},
    {.kind = message_kind::spread_done, .to = route::part},
};

std::unique_ptr<protocol::domain> make_domain(const protocol::job& job) {
  auto made = std::make_unique<node>(job.self, job.nodes, job.twin_pages,
                                     job.notices != 0 ? job.notices : history::default_limit);
  made->open().pins = job.pins;
  return made;
}

std::unique_ptr<model::machine> make_machine(const protocol::job& job, const protocol::region_shape& of,
                                             protocol::domain& shared, int& error) {
  auto own = base::make_fault<machine_tables>(job.memory);
  error = own->units.make(of.units);
  if (error == 0 && job.traces == protocol::traced::shared && !of.scans) error = own->lone.make(of.units);
  if (error == 0 && job.members != nullptr) error = own->claims.make(of.units);
  if (error != 0) return nullptr;
  region_shape shape;
  shape.region = of.region;
  shape.self = job.self;
  shape.nodes = model::geometry::of(job.nodes);
  shape.managers = of.managers;
  shape.units = of.units;
  shape.first_touch = of.first_touch;
  shape.scans = of.scans;
  shape.migrates = job.move_homes;
  shape.moves_between = of.beside_others;
  shape.pages_out = job.pages_out;  // any node, not only this one
  shape.members = job.members;
  // Nothing is sent unasked where nodes survive others, and no unit keeps its right: all that differs from what homes
  // have has a twin, and is told.
  if (!job.updates || job.members != nullptr) shape.update = updates::never;
  shape.migratory = job.hands_on;
  shape.traces = job.traces != protocol::traced::nothing && !of.scans;
  shape.keeps = job.traces == protocol::traced::nothing && job.members == nullptr;
  shape.one_memory = of.one_memory;
  shape.twin_pages = of.unit_pages;
  shape.units_a_page = of.units_a_page;
  auto made =
      std::make_unique<machine>(shape, own->units.data(), static_cast<node&>(shared).open(), own->claims.data());
  made->own(std::move(own));
  return made;
}

constexpr protocol::row the_row{
    .id = id,
    .name = "release",
    .can = {.relaxed = true,
            .atomics = true,
            .pins = true,
            .pins_bring_content = true,
            .push = true,
            .page_out = true,
            .scan = true,
            .twins = true,
            .change = true,
            .block = true,
            .checkpoint = true,
            .survive = true,
            .host_frames = true},
    .messages = messages,
    .make_domain = make_domain,
    .make_machine = make_machine,
};

}  // namespace

const protocol::row& row() noexcept { return the_row; }

}  // namespace quire::release
