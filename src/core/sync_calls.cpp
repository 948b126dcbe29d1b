// SPDX-License-Identifier: BSD-3-Clause
// Synchronisation: calls of threads go into the sync machine, its actions come out. Same way as faults: the calling
// thread drives, or whoever does.
#include "core/sync_calls.hpp"

#include "base/detail.hpp"
#include "base/log.hpp"
#include "core/call_table.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/host.hpp"
#include "core/outbox.hpp"
#include "core/plans/planner.hpp"
#include "core/protocol_set.hpp"
#include "core/thread_state.hpp"
#include "core/transactions.hpp"
#include "sync/edges.hpp"
#include "sync/mismatch.hpp"
#include "sync/names.hpp"

namespace quire::core {

namespace {
struct sync_op : op {
  explicit sync_op(body execute) noexcept : op(execute, type::synchronisation) {}
  sync::call* request = nullptr;
  const read_ahead* stream = nullptr;  ///< the thread's
};
/// The lock that a call gets, if it ends well; 0: none.
std::uint64_t lock_got_by(const sync::call& c) noexcept {
  using enum sync::operation;
  if (c.what == condition_wait) return c.operand;
  return c.what == mutex_lock || c.what == rwlock_read_lock || c.what == rwlock_write_lock ? c.object : 0;
}
/// The lock that it gives back.
std::uint64_t lock_lost_by(const sync::call& c) noexcept {
  using enum sync::operation;
  if (c.what == condition_wait) return c.operand;
  return c.what == mutex_unlock || c.what == rwlock_unlock ? c.object : 0;
}
/// A round that was refused: each node says why, as none of them can know which others are looked at.
void say_mismatch(const sync::call& c) {
  const auto why = sync::mismatch_in(c.values);
  if (!why) return;
  const sync::object_id group{c.object};
  base::log(base::log_level::error, "a meeting of %s cannot come: %s; all %s call the same, in the same order",
            c.object == 0 ? "all nodes" : sync::object_name(group).text, sync::text_of(*why).c_str(),
            c.object == 0 ? "nodes" : "its threads");
}
}  // namespace

base::status sync_calls::synchronise(sync::call& request, std::int64_t timeout_ms) noexcept {
  if (transactions::inside())
    return base::explain(
        QUIRE_INVALID,
        "%s(): not within a transaction, which may begin again, and holds others up (quire_transaction_retry() waits)",
        sync::name_of(request.what));
  sync_op o([](core& e, op& self) noexcept {
    sync::call& call = *static_cast<sync_op&>(self).request;
    call.token = e.tokens.add(self);
    if (e.host.has_timer()) call.now_ns = e.now();
    e.planner.end_section(lock_lost_by(call));
    if (sync::is_collective(call) && e.objects.machine_.is_last(call)) {
      e.host.prepare_to_meet();
      e.protocols.release_ahead(e.objects.machine_.next_told(call));  // diffs travel while the others are waited for
    }
    e.objects.step([&](sync::machine& m, sync::actions& out) { m.on_call(call, out); });
  });
  o.request = &request;
  o.stream = &this_thread().stream;
  wait_note& n = this_thread().wants;
  const bool of_job = sync::is_collective(request) && request.object == 0,
             of_group = !of_job && request.what >= sync::operation::group_create;
  const note_scope noted(n, of_job ? waits::what::all_nodes : waits::what::object, sync::name_of(request.what));
  n.object = request.object;
  n.other = request.operand;
  n.node = n.kind == waits::what::object && !of_group
               ? sync::home_of(sync::object_id{request.object}, core_.config.nodes).value()
               : waits::no_node;
  request.try_only = timeout_ms == 0;
  const bool meets = sync::is_collective(request);
  if (meets) request.within = this_thread().meeting;
  if (core_.run(o, timeout_ms <= 0 ? -1 : timeout_ms)) {
    if (meets && o.result().code() == QUIRE_INVALID) say_mismatch(request);
    return o.result();
  }
  // The time ran out. The machine says what became of the call: withdrawn, or ended meanwhile.
  struct cancel_op : op {
    using op::op;
    const sync::call* late = nullptr;
  } cancel(
      [](core& e, op& self) noexcept {
        // The call itself was queued before, so that by now it has its token.
        e.objects.step(
            [&](sync::machine& m, sync::actions& out) { m.on_cancel(static_cast<cancel_op&>(self).late->token, out); });
        self.complete();
      },
      op::type::synchronisation);
  cancel.late = &request;
  (void)core_.run(cancel);
  (void)core_.host.wait_for(o, -1, false);
  return o.result();
}

void sync_calls::on_message(const model::message& m, std::span<const std::byte> value) noexcept {
  if (sync::kind_of(m.kind) == sync::kind::spread) on_round_end(m);
  comes_ = m.from != core_.config.self;
  step([&](sync::machine& machine, sync::actions& out) { machine.on_message(m, value, out); });
  comes_ = false;
}

bool sync_calls::end_lingers() noexcept {
  if (lingers_.empty()) return false;
  const std::uint64_t now = core_.now();
  bool any = false;
  while (const std::uint64_t object = lingers_.take_over(now)) {
    step([&](sync::machine& machine, sync::actions& out) { machine.on_linger_over(object, out); });
    any = true;
  }
  look_later(now);
  return any;
}

void sync_calls::look_later(std::uint64_t now) noexcept {
  if (const std::uint64_t at = lingers_.next_look(now); at != 0) core_.host.call_at(at);
}

void sync_calls::set_clock() noexcept {
  if (const std::uint64_t at = lingers_.end_of_first(); at != 0) core_.host.call_at(at);
}

/// Null if its rounds are none of epochs: of a group that some node has no thread in.
sync_calls::epochs* sync_calls::epochs_of(const model::message& m) noexcept {
  if (!core_.relaxed() || (m.c & sync::round_bit::whole) == 0) return nullptr;
  const auto found = epochs_.find(m.unit);
  return found == epochs_.end() ? nullptr : &found->second;
}

/// A round that was refused is no epoch: some nodes may not have been in it.
void sync_calls::on_round_end(const model::message& m) noexcept {
  epochs* const e = epochs_of(m);
  if (e == nullptr) return;
  core_.protocols.on_round_end(e->marks, m.operation != QUIRE_OK);
}

/// Rounds of the job, and of groups with threads on all nodes, are epochs. The root's ends when it tells its first
/// child.
void sync_calls::note_round(const model::message& m) noexcept {
  epochs* const e = epochs_of(m);
  const auto kind = sync::kind_of(m.kind);
  if (e == nullptr) return;
  if (kind == sync::kind::gather) return core_.protocols.on_gathered(e->marks);
  if ((m.c & sync::round_bit::root) == 0 || m.b + 1 == e->rounds) return;
  e->rounds = m.b + 1;
  core_.protocols.on_gathered(e->marks);
  on_round_end(m);
}

/// Pieces of arrays order nothing: the round before them has done that. Who wrote them may go on at once.
void sync_calls::send(const sync::action& a) noexcept {
  const auto kind = sync::kind_of(a.m.kind);
  if (sync::is_piece(kind))
    return core_.out.post(a.to, a.m, a.payload(), transport::urgency::now, transport::lasting::now);
  if (kind == sync::kind::gather || kind == sync::kind::spread) note_round(a.m);
  core_.out.synchronise(a.to, a.m, a.values.bytes(), sync::edge_of(a.m));
}

void sync_calls::perform() noexcept {
  for (const sync::action& a : actions_) {
    if (a.kind == sync::action_kind::send) {
      send(a);
      continue;
    }
    if (a.kind == sync::action_kind::linger) {
      const std::uint64_t now = core_.now();
      lingers_.add(a.object, now + sync::linger_ns);
      look_later(now);
      continue;
    }
    core_.protocols.acquire();
    op* const o = core_.tokens.find(a.token);
    if (o == nullptr || o->what() != op::type::synchronisation) continue;
    (void)core_.tokens.take(a.token);
    auto& call = *static_cast<sync_op&>(*o).request;
    if (const std::uint64_t lock = lock_got_by(call); lock != 0 && a.status == QUIRE_OK)
      core_.planner.begin_section(lock, *static_cast<sync_op&>(*o).stream, comes_);
    if (call.what == sync::operation::group_create && a.object != 0) epochs_.emplace(a.object, epochs{});
    if (call.what == sync::operation::group_destroy) epochs_.erase(call.object);
    if (a.object != 0) call.object = a.object;
    if (!a.values.empty() || a.status != QUIRE_OK) call.values = a.values;
    if (call.what == sync::operation::barrier_wait && !sync::is_collective(call)) core_.protocols.on_met();
    o->complete(a.status);
  }
}

sync_calls::group_size sync_calls::size_of(sync::object_id group) noexcept {
  group_size size;
  core_.as_driver([&] {
    const sync::group_shape* const shape = machine_.shape_of(group);
    if (shape != nullptr) size = {shape->members(), shape->first_of(core_.config.self)};
  });
  return size;
}
sync::saved_objects sync_calls::save() noexcept {
  sync::saved_objects all;
  core_.as_driver([&] { all = machine_.save(); });
  return all;
}
bool sync_calls::load(std::span<const sync::saved_objects> all) noexcept {
  bool good = false;
  core_.as_driver([&] { good = machine_.load(all); });
  return good;
}
bool sync_calls::any() noexcept {
  bool any = false;
  core_.as_driver([&] { any = machine_.is_used(); });
  return any;
}

}  // namespace quire::core
