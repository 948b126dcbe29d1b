// SPDX-License-Identifier: BSD-3-Clause
#include "region/announcements.hpp"

#include <cstring>

#include "base/status_number.hpp"
#include "core/mapping.hpp"
#include "region/services.hpp"

namespace quire::region {

using model::message;
using model::node_id;

void announcements::open(listener done, void* context) {
  done_ = done;
  context_ = context;
  using value = std::span<const std::byte>;
  core_.services.set(static_cast<std::uint32_t>(service::lay), [](void* self, core::core&, const message& m, value v) noexcept {
    static_cast<announcements*>(self)->on_notice(m, v);
  }, this);
  core_.services.set(static_cast<std::uint32_t>(service::laid), [](void* self, core::core&, const message& m, value) noexcept {
    static_cast<announcements*>(self)->on_answer(m.a, m.from.value(), base::status_of(m.b));
  }, this);
  if (core_.config.survives) {
    core_.survival.on_deaths([](void* self, unsigned node) noexcept { static_cast<announcements*>(self)->on_death(node); }, this, false);
  }
}

void announcements::tell_all(std::uint64_t handle, const heap::span_plan& plan) {
  const std::uint64_t number = ++number_, dead = core_.survival.members().dead;
  questions_.emplace(number, question{.handle = handle,
                                      .plan = plan,
                                      .left = core_.config.nodes - static_cast<unsigned>(__builtin_popcountll(dead)),
                                      .answered = dead});
  const notice what{.number = number, .handle = handle, .address = plan.address, .pages = plan.pages, .minipage_bytes = plan.minipage_bytes};
  for (unsigned n = 0; n < core_.config.nodes; ++n) {
    const node_id to{static_cast<std::uint16_t>(n)};
    if (core_.survival.members().is_dead(to)) continue;
    core_.services.notify(to, static_cast<std::uint32_t>(service::lay), 0, 0, 0, std::as_bytes(std::span(&what, 1)));
  }
}

/// The answer goes back in any case: the other node waits for it.
void announcements::on_notice(const message& m, std::span<const std::byte> value) noexcept {
  notice what;
  if (value.size() != sizeof what) return;
  std::memcpy(&what, value.data(), sizeof what);
  const base::status why = lay(what);
  core_.services.notify(m.from, static_cast<std::uint32_t>(service::laid), what.number, static_cast<std::uint64_t>(why.code()), 0, {});
}

base::status announcements::lay(const notice& what) noexcept {
  const core::region_ref found = core_.regions.of_handle(what.handle);
  core::region_slot* const r = found.get();
  if (r == nullptr) return QUIRE_NOT_FOUND;
  const std::uint64_t offset = what.address - r->about.base;
  const bool right = r->about.heap != 0 && what.address >= r->about.base && offset % heap::page_bytes == 0 && what.minipage_bytes != 0;
  // The same again is no mistake: a plan that did not reach all is announced anew.
  return right && core::mapping::divide(*r, offset / heap::page_bytes, what.pages, what.minipage_bytes) ? base::status{} : base::status(QUIRE_INVALID);
}

void announcements::on_answer(std::uint64_t number, unsigned node, base::status why) noexcept {
  const auto found = questions_.find(number);
  if (found == questions_.end()) return;
  question& q = found->second;
  if (node < 64) q.answered |= std::uint64_t{1} << node;
  if (!why.ok()) q.why = why;
  if (--q.left != 0) return;
  const question over = q;
  questions_.erase(found);
  done_(context_, over.handle, over.plan, over.why);
}

/// Nobody waits for a node that is dead.
void announcements::on_death(unsigned node) noexcept {
  for (auto i = questions_.begin(); i != questions_.end();) {
    const auto [number, q] = *i++;  // it may be gone then
    if ((q.answered >> node & 1) == 0) on_answer(number, node, {});
  }
}

}  // namespace quire::region
