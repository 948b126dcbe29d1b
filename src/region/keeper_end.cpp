// SPDX-License-Identifier: BSD-3-Clause
// A region goes: node 0 leads, by steps that all nodes take and answer (core/region_remover.hpp says what each does).
//
//   begin    all nodes keep what threads ask for; one of them may be against it (pins, a block, a change, a
//            checkpoint): then all give up
//   look     each says what it has sent and received, and whether it is at rest, when none of its content is on its way
//            to or from a store. Over when all were at rest, and what had been received then is all that has been sent
//            by the next time (Mattern, Algorithms for Distributed Termination Detection, 1987: four counters)
//   finish   no message of the region is on its way: each node gives it up. When all have, its number and addresses may
//            be another's
//
// Steps are notices and no collective, so that one thread of one node is enough, and the rounds of the program go on
// meanwhile. A death begins the looks anew, as counts do. When node 0 dies nobody numbers regions any more: who knows
// that a region was about to go has all give it up, at once.
#include <cstring>

#include "base/detail.hpp"
#include "core/configuration.hpp"
#include "core/outbox.hpp"
#include "core/region_remover.hpp"
#include "core/region_slot.hpp"
#include "core/services.hpp"
#include "model/membership.hpp"
#include "region/keeper.hpp"
#include "region/services.hpp"

namespace quire::region {

using core::region_rest;
using core::region_slot;
using core::stays;
using model::message;
using model::node_id;

namespace {
constexpr node_id leader{0};

const char* text_of(stays why) noexcept {
  switch (why) {
    case stays::pinned:
      return "some of its units are pinned, or about to be; end that first (quire_unpin)";
    case stays::in_block:
      return "a parallel block is under way on it; end it first (quire_block_end)";
    case stays::changes:
      return "its consistency changes, a checkpoint is under way, or another thread destroys it";
    default:
      return "there is no such region: it was destroyed already, or never made";
  }
}
}  // namespace

void keeper::open_end() {
  using value = std::span<const std::byte>;
  const auto serve = [this](service s, core::service_table::handler h, const char* name = nullptr) {
    core_.services.set(static_cast<std::uint32_t>(s), h, this, name);
  };
  serve(
      service::region_destroy,
      [](void* self, core::core&, const message& m, value) noexcept { static_cast<keeper*>(self)->on_destroy(m); },
      "quire_region_destroy");
  serve(service::region_step,
        [](void* self, core::core&, const message& m, value v) noexcept { static_cast<keeper*>(self)->on_step(m, v); });
  serve(service::region_step_done, [](void* self, core::core&, const message& m, value v) noexcept {
    static_cast<keeper*>(self)->on_step_done(m, v);
  });
}

base::status keeper::destroy(quire_region region) {
  if ((region.id & 0xffff) < first_) {
    return base::explain(
        QUIRE_INVALID, "quire_region_destroy(): the region is that of quire_malloc(), which lasts as long as the job");
  }
  if (const core::region_ref r = core_.regions.of_handle(region.id);
      r != nullptr && core_.regions.is_adopted(r->about)) {
    return base::explain(
        QUIRE_INVALID,
        "quire_region_destroy(): region %lu is memory that the program had before (quire_region_adopt), which stays",
        static_cast<unsigned long>(region.id & 0xffff));
  }
  return end(region, "quire_region_destroy");
}

base::status keeper::disown(quire_region region) {
  const core::region_ref r = core_.regions.of_handle(region.id);
  if (r == nullptr || !core_.regions.is_adopted(r->about)) {
    return base::explain(QUIRE_INVALID, "quire_region_disown(): region %lu was not adopted (quire_region_adopt)",
                         static_cast<unsigned long>(region.id & 0xffff));
  }
  return end(region, "quire_region_disown");
}

base::status keeper::end(quire_region region, const char* call) {
  message m;
  m.a = region.id;
  const auto why = core_.ask(leader, static_cast<std::uint32_t>(service::region_destroy), m, {});
  if (why == QUIRE_LOST) {
    return base::explain(
        QUIRE_LOST, "%s(): node 0, which numbers regions, is dead; whether the region has gone is not known", call);
  }
  if (why.ok()) return why;
  return base::explain(why.code(), "%s(), region %lu: %s", call, static_cast<unsigned long>(region.id & 0xffff),
                       text_of(static_cast<stays>(m.a)));
}

/// Node 0.
void keeper::on_destroy(const message& m) noexcept {
  region_slot* const r = m.a != 0 ? core_.regions.of_handle(m.a).get() : nullptr;
  if (r == nullptr) return core_.answer(m, QUIRE_NOT_FOUND, static_cast<std::uint64_t>(stays::unknown));
  if (questions_.contains(r->about.id)) return core_.answer(m, QUIRE_BUSY, static_cast<std::uint64_t>(stays::changes));
  question q;
  q.request = m;
  q.about = r->about;
  q.ends = true;
  tell_step(questions_.emplace(q.about.id, q).first->second, step::begin);
}

void keeper::tell_step(question& q, step what) {
  q.at = what;
  ask_all(q);
  order o;
  o.what = what;
  o.id = q.about.id;
  o.life = q.about.life;
  tell_all(static_cast<std::uint32_t>(service::region_step), std::as_bytes(std::span(&o, 1)));
}

/// On all nodes. From others than node 0 when that is dead.
void keeper::on_step(const message& m, std::span<const std::byte> value) noexcept {
  order o;
  if (value.size() != sizeof o) return;
  std::memcpy(&o, value.data(), sizeof o);
  region_slot* const r = core_.regions.of_handle(o.id | std::uint64_t{o.life} << 16).get();
  switch (o.what) {
    case step::begin:
      o.why = r != nullptr ? core_.removing.begin(*r) : stays::unknown;
      break;
    case step::give_up:
      if (r != nullptr) core_.removing.give_up(*r);
      break;
    case step::look:
      if (r != nullptr && core_.removing.looks_later(*r)) return core_.removing.postpone(*r, m, value);
      if (r != nullptr) o.rest = core_.removing.look(*r);
      break;
    case step::finish:
      if (r != nullptr && (m.from == leader || core_.members.is_dead(leader))) finish_here(*r);
      break;
  }
  if (m.from == leader) {
    core_.notify(leader, static_cast<std::uint32_t>(service::region_step_done), 0, 0, 0,
                 std::as_bytes(std::span(&o, 1)));
  }
}

void keeper::finish_here(region_slot& r) {
  const core::region_description about = r.about;
  core_.removing.finish(r);
  for (const listener& l : listeners_) l.tell(l.context, about);
}

/// Node 0.
void keeper::on_step_done(const message& m, std::span<const std::byte> value) noexcept {
  order o;
  if (value.size() != sizeof o) return;
  std::memcpy(&o, value.data(), sizeof o);
  const auto found = questions_.find(static_cast<std::uint16_t>(o.id));
  if (found == questions_.end() || !found->second.ends || found->second.at != o.what) return;
  question& q = found->second;
  if (o.what == step::begin && o.why != stays::no && q.stays == stays::no) q.stays = o.why;
  if (o.what == step::look) note_rest(q, o);
  on_answer(q, m.from.value());
}

void keeper::note_rest(question& q, const order& o) noexcept {
  const region_rest& rest = o.rest;
  // Where nodes know of different deaths, they do not count the same.
  q.quiet = q.quiet && rest.quiet && rest.dead == core_.members.dead;
  q.sent += rest.sent;
  q.received += rest.received;
}

/// The last look has found what the one before has: nothing is on its way.
bool keeper::is_over(question& q) noexcept {
  const bool over = q.before_was_quiet && q.quiet && q.dead == q.dead_before && q.received_before == q.sent;
  q.before_was_quiet = q.quiet;
  q.received_before = q.received;
  q.dead_before = q.dead;
  return over;
}

void keeper::all_have_done(question& q) {
  const std::uint16_t id = q.about.id;
  const auto look = [&] {
    q.quiet = true;
    q.sent = q.received = 0;
    q.dead = core_.members.dead;
    tell_step(q, step::look);
  };
  switch (q.at) {
    case step::begin:
      return q.stays == stays::no ? look() : tell_step(q, step::give_up);
    case step::look:
      return is_over(q) ? tell_step(q, step::finish) : look();
    case step::give_up: {
      const bool unknown = q.stays == stays::unknown;
      core_.answer(q.request, unknown ? QUIRE_NOT_FOUND : QUIRE_BUSY, static_cast<std::uint64_t>(q.stays));
      questions_.erase(id);
      return;
    }
    case step::finish:
      core_.answer(q.request, q.why);
      if (!core_.regions.is_adopted(q.about) && q.about.placed == 0) {
        space_.give_back(q.about.base, core::views_of(q.about).span() + q.about.gap_bytes + q.about.room_bytes);
      }
      numbers_.give_back(id);
      ++gone_;
      questions_.erase(id);
      return;
  }
}

/// Node 0 is dead, and nobody leads any more. A region that this node knows to be about to go goes.
void keeper::go_on_without_leader() {
  base::fault_vector<region_slot*> going;
  core_.regions.for_each([&](region_slot& r) {
    if (r.change.frozen.has(core::freeze::end)) going.push_back(&r);
  });
  for (region_slot* const r : going) {
    order o;
    o.what = step::finish;
    o.id = r->about.id;
    o.life = r->about.life;
    const auto bytes = std::as_bytes(std::span(&o, 1));
    message m;
    m.kind = model::message_kind::service_notice;
    m.operation = static_cast<std::uint32_t>(service::region_step);
    m.from = m.requester = core_.config.self;
    m.payload_bytes = static_cast<std::uint32_t>(bytes.size());
    for (std::uint16_t n = 0; n < core_.config.nodes; ++n) {
      const node_id to{n};
      // Past all that waits until content is safe: that may wait for an answer about this very region.
      if (to != core_.config.self && !core_.members.is_dead(to)) core_.out.send(to, m, bytes);
    }
    finish_here(*r);
  }
}

}  // namespace quire::region
