// SPDX-License-Identifier: BSD-3-Clause
// Push and page broadcasting in regions with release consistency: the calls' bodies (messages.cpp has those of sequential regions). Driver's
// thread.
#include "core/core.hpp"

namespace quire::core {

using model::message;

void core::begin_production(call_op& call, std::uint64_t first, std::uint64_t end) noexcept {
  consistency_.release(true);  // afterwards the next write of each copy is noticed
  for (std::uint64_t unit = first; unit < end; ++unit) {
    actions_.clear();
    call.region->release->on_produce_begin(unit, actions_);
    if (actions_.size() != 0) performer_.take(*call.region, actions_);
  }
  performer_.flush();
  call.complete();
}

/// The homes hear of it when they have what was written here, and all nodes have it when the call ends.
void core::push_units(call_op& call, std::uint64_t first, std::uint64_t end, bool written_only) noexcept {
  region_slot& r = *call.region;
  release::machine& machine = *r.release;
  for (std::uint64_t unit = first; unit < end; ++unit) {
    if (machine.unit(unit).pinned != 0) return call.complete(QUIRE_BUSY);
  }
  consistency_.release(true);
  const std::uint64_t token = call.token = calls_.add(call);
  call.replies = 0;
  ++r.change.calls;
  for (std::uint64_t unit = first; unit < end; ++unit) {
    if (written_only && !machine.on_produce_end(unit)) continue;
    ++call.replies;
    actions_.clear();
    machine.on_push(unit, token, actions_);
    performer_.take(r, actions_);
  }
  const bool any = call.replies != 0;
  if (!any) {
    (void)calls_.take(token);
    --r.change.calls;
  }
  performer_.flush();  // of a job of one node this may be all, and the call may be gone
  if (!any) call.complete();
}

void core::on_spread_done(const message& m) noexcept {
  op* const o = calls_.find(m.token);
  if (o == nullptr || o->what() != op::type::call) return;
  auto& call = static_cast<call_op&>(*o);
  if (m.acks > call.replies) return;
  call.replies -= m.acks;
  if (call.replies != 0) return;
  if (call.region != nullptr) --call.region->change.calls;
  (void)calls_.take(m.token);
  call.complete();
}

}  // namespace quire::core
