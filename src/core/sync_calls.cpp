// SPDX-License-Identifier: BSD-3-Clause
// Synchronisation: calls of threads go into the sync machine, its actions come out. Same way as faults: the calling thread
// drives, or whoever does.
#include "base/log.hpp"
#include "core/core.hpp"
#include "core/thread_state.hpp"
#include "sync/edges.hpp"
#include "sync/mismatch.hpp"
#include "sync/names.hpp"

namespace quire::core {

namespace {
struct sync_op : op {
  explicit sync_op(body execute) noexcept : op(execute, type::synchronisation) {}
  sync::call* request = nullptr;
};
/// A round that was refused: each node says why, as none of them can know which others are looked at.
void say_mismatch(const sync::call& c) {
  const auto why = sync::mismatch_in(c.values);
  if (!why) return;
  base::log(base::log_level::error, "a meeting of all nodes cannot come: %s; all nodes call the same, in the same order",
            sync::text_of(*why).c_str());
}
}  // namespace

base::status core::synchronise(sync::call& request, std::int64_t timeout_ms) noexcept {
  sync_op o([](core& e, op& self) noexcept {
    sync::call& call = *static_cast<sync_op&>(self).request;
    call.token = e.calls_.add(self);
    if (e.host_.has_timer()) call.now_ns = e.now();
    if (sync::is_collective(call)) {
      e.host_.prepare_to_meet();
      e.consistency_.release_ahead();  // diffs travel while the others are waited for
    }
    e.sync_actions_.clear();
    e.sync_.on_call(call, e.sync_actions_);
    e.perform_sync();
  });
  o.request = &request;
  wait_note& n = t_thread.wants;
  const note_scope noted(n, sync::is_collective(request) ? waits::what::all_nodes : waits::what::object, sync::name_of(request.what));
  n.object = request.object;
  n.other = request.operand;
  n.node = n.kind == waits::what::object ? sync::home_of(sync::object_id{request.object}, config_.nodes).value() : waits::no_node;
  request.try_only = timeout_ms == 0;
  const bool meets = sync::is_collective(request);
  if (meets) request.within = t_thread.meeting;
  if (run(o, timeout_ms <= 0 ? -1 : timeout_ms)) {
    if (meets && o.result().code() == QUIRE_INVALID) say_mismatch(request);
    return o.result();
  }
  // The time ran out. The machine says what became of the call: withdrawn, or ended meanwhile.
  struct cancel_op : op {
    using op::op;
    const sync::call* late = nullptr;
  } cancel([](core& e, op& self) noexcept {
    e.sync_actions_.clear();
    // The call itself was queued before, so that by now it has its token.
    e.sync_.on_cancel(static_cast<cancel_op&>(self).late->token, e.sync_actions_);
    e.perform_sync();
    self.complete();
  }, op::type::synchronisation);
  cancel.late = &request;
  (void)run(cancel);
  (void)host_.wait_for(o, -1, false);
  return o.result();
}

void core::handle_sync(const model::message& m, std::span<const std::byte> value) noexcept {
  if (sync::kind_of(m.kind) == sync::kind::spread && relaxed()) on_round_end(m);
  sync_actions_.clear();
  sync_.on_message(m, value, sync_actions_);
  perform_sync();
}

/// Mutexes that were kept here for a thread that has not come.
bool core::end_lingers() noexcept {
  bool any = false;
  while (const std::uint64_t object = lingers_.take_over(now())) {
    sync_actions_.clear();
    sync_.on_linger_over(object, sync_actions_);
    perform_sync();
    any = true;
  }
  return any;
}

/// Messages that synchronise threads take memory along.
void core::synchronise(model::node_id to, const model::message& m, std::span<const std::byte> value, model::edge what) noexcept {
  if (relaxed()) return consistency_.send(to, m, value, what);
  if (hold_back(to, m, value, what != model::edge::none)) return;
  send(to, m, value);
}

/// A round that was refused is no epoch: some nodes may not have been in it.
void core::on_round_end(const model::message& m) noexcept {
  m.operation == QUIRE_OK ? consistency_.on_epoch() : consistency_.on_round_refused();
}

/// Rounds of the job barrier are epochs. The root's ends when it tells its first child.
void core::note_round(const model::message& m) noexcept {
  const auto kind = sync::kind_of(m.kind);
  if (kind == sync::kind::gather) return consistency_.on_gathered();
  if (kind != sync::kind::spread || config_.self != model::node_id{0} || m.b + 1 == rounds_) return;
  rounds_ = m.b + 1;
  consistency_.on_gathered();
  on_round_end(m);
}

void core::perform_sync() noexcept {
  for (const sync::action& a : sync_actions_) {
    if (a.kind == sync::action_kind::send) {
      if (relaxed()) note_round(a.m);
      synchronise(a.to, a.m, a.values.bytes(), sync::edge_of(a.m));
      continue;
    }
    if (a.kind == sync::action_kind::linger) {
      const std::uint64_t until = now() + sync::linger_ns;
      lingers_.add(a.object, until);
      host_.call_at(until);
      continue;
    }
    consistency_.acquire();
    op* const o = calls_.find(a.token);
    if (o == nullptr || o->what() != op::type::synchronisation) continue;
    (void)calls_.take(a.token);
    auto& call = *static_cast<sync_op&>(*o).request;
    if (a.object != 0) call.object = a.object;
    if (!a.values.empty()) call.values = a.values;
    o->complete(a.status);
  }
}

}  // namespace quire::core
