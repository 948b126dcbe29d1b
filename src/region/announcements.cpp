// SPDX-License-Identifier: BSD-3-Clause
#include "region/announcements.hpp"

#include <cstring>

#include "base/status_number.hpp"
#include "core/configuration.hpp"
#include "core/inbox.hpp"
#include "core/mapping.hpp"
#include "core/region_slot.hpp"
#include "core/services.hpp"
#include "core/survival.hpp"
#include "region/services.hpp"

namespace quire::region {

using model::message;
using model::node_id;

void announcements::open(listener done, question_of_owner owns, void* context) {
  done_ = done;
  owns_ = owns;
  context_ = context;
  using value = std::span<const std::byte>;
  core_.services.set(
      static_cast<std::uint32_t>(service::lay),
      [](void* self, core::core&, const message& m, value v) noexcept {
        static_cast<announcements*>(self)->on_notice(m, v);
      },
      this);
  core_.services.set(
      static_cast<std::uint32_t>(service::laid),
      [](void* self, core::core&, const message& m, value) noexcept {
        static_cast<announcements*>(self)->on_answer(m);
      },
      this);
  if (core_.config.survives) {
    core_.survival.on_deaths(
        [](void* self, unsigned node) noexcept { static_cast<announcements*>(self)->on_death(node); }, this, false);
  }
}

void announcements::tell_all(std::uint64_t handle, const heap::span_plan& plan) {
  const std::uint64_t number = ++number_;
  question asked{.handle = handle, .plan = plan};
  for (unsigned n = 0; n < core_.config.nodes; ++n) {
    const bool lives = !core_.members.is_dead(node_id{static_cast<std::uint16_t>(n)});
    asked.answered[n] = !lives;
    asked.left += lives ? 1 : 0;
  }
  questions_.emplace(number, asked);
  const announcement what{.number = number,
                          .handle = handle,
                          .address = plan.address,
                          .pages = plan.pages,
                          .minipage_bytes = plan.minipage_bytes};
  for (unsigned n = 0; n < core_.config.nodes; ++n) {
    if (asked.answered[n]) continue;
    core_.notify(node_id{static_cast<std::uint16_t>(n)}, static_cast<std::uint32_t>(service::lay), 0, 0, 0,
                 std::as_bytes(std::span(&what, 1)));
  }
}

/// The answer goes back in any case: the other node waits for it.
void announcements::on_notice(const message& m, std::span<const std::byte> value) noexcept {
  announcement what;
  if (!read(value, what)) core_.in.refuse(m, "it tells of no pages");
  const base::status why = lay(m, what);
  core_.notify(m.from, static_cast<std::uint32_t>(service::laid), what.number, static_cast<std::uint64_t>(why.code()),
               0, {});
}

base::status announcements::lay(const message& m, const announcement& what) noexcept {
  const core::region_ref found = core_.regions.of_handle(what.handle);
  core::region_slot* const r = found.get();
  if (r == nullptr) return QUIRE_NOT_FOUND;
  page_range pages;
  const bool right = r->about.heap != 0 && r->minipages != nullptr &&
                     pages_of(what, r->about.base, r->about.bytes, r->about.views, pages);
  if (!right) core_.in.refuse(m, "there are no such pages to cut into minipages");
  if (!owns_(context_, what.handle, what.address, what.pages * heap::page_bytes, m.from))
    core_.in.refuse(m, "the pages that it cuts are another node's");
  if (!fits(*r->minipages, pages, what.minipage_bytes))
    core_.in.refuse(m, "the pages that it cuts have other minipages");
  return core::mapping::divide(*r, pages.first, pages.count, what.minipage_bytes) ? base::status{}
                                                                                  : base::status(QUIRE_SYSTEM);
}

/// A question may be over already, of a node that was taken for dead.
void announcements::on_answer(const message& m) noexcept {
  const auto found = questions_.find(m.a);
  if (m.a == 0 || m.a > number_) core_.in.refuse(m, "it answers what nobody has asked");
  if (found != questions_.end() && found->second.answered[m.from.value()]) core_.in.refuse(m, "it answers twice");
  count(m.a, m.from.value(), base::status_of(m.b));
}

void announcements::count(std::uint64_t number, unsigned node, base::status why) noexcept {
  const auto found = questions_.find(number);
  if (found == questions_.end()) return;
  question& q = found->second;
  q.answered.set(node);
  if (!why.ok()) q.why = why;
  if (--q.left != 0) return;
  const question over = q;
  questions_.erase(found);
  done_(context_, over.handle, over.plan, over.why);
}

/// Nobody waits for a node that is dead.
void announcements::on_death(unsigned node) noexcept {
  for (auto i = questions_.begin(); i != questions_.end();) {
    const auto number = i->first;
    const bool waits = !i->second.answered[node];
    ++i;  // it may be gone then
    if (waits) count(number, node, {});
  }
}

}  // namespace quire::region
