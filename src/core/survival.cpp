// SPDX-License-Identifier: BSD-3-Clause
// A node of the job is dead, and the others go on (QUIRE_ON_FAILURE=notify). The launcher says who is dead, which it
// knows for certain, or each node sees the process end (`sees_deaths`); then the survivors put together what they have,
// by the rounds of src/watch/recovery.hpp, and go on. Meanwhile threads use what is mapped; whatever needs another node
// waits (region_slot's `frozen`). What machines do is in protocol/sequential/loss.cpp and sync/loss.cpp;
// sim/bare/sequential_loss.cpp drives them in the same order.
#include "core/survival.hpp"

#include <bit>
#include <limits>
#include <utility>

#include "base/nanoseconds.hpp"
#include "base/log.hpp"
#include "bootstrap/bootstrap.hpp"
#include "core/absent_units.hpp"
#include "core/call_table.hpp"
#include "core/change.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/diffs.hpp"
#include "core/held_units.hpp"
#include "core/host.hpp"
#include "core/inbox.hpp"
#include "core/message_table.hpp"
#include "core/node_effects.hpp"
#include "core/outbox.hpp"
#include "core/protocol_set.hpp"
#include "core/region_slot.hpp"
#include "core/region_remover.hpp"
#include "core/replicas.hpp"
#include "core/stored_units.hpp"
#include "core/sync_calls.hpp"
#include "core/used_units.hpp"
#include "core/watching.hpp"
#include "model/action.hpp"
#include "protocol/release/node.hpp"
#include "sync/kinds.hpp"
#include "sync/object_id.hpp"
#include "transport/transport.hpp"

namespace quire::core {

using model::message;
using model::message_kind;
using model::node_id;

namespace {
using base::second;
/// What a message `recovery` says, in its `operation`: a round, or from here on something that who joins must know.
constexpr std::uint32_t first_transfer = 16;
static_assert(first_transfer > static_cast<std::uint32_t>(watch::recovery::round::joined));
}  // namespace

survivor::survivor(core& node, const configuration& how, model::failure_domains domains)
    : core_(node),
      survival_(how.self.value(), how.nodes, how.first_nodes(), domains),
      joined_(how.self.value() < how.first_nodes()) {}

void survivor::on_deaths(void (*tell)(void*, unsigned) noexcept, void* context, bool when_over) {
  survival_.listeners.push_back({tell, context, when_over});
}

void survivor::on_announced(unsigned node) noexcept {
  const unsigned n = survival_.announced.load(std::memory_order_relaxed);
  if (node >= core_.config.nodes || n >= survival::most_nodes || node == core_.config.self.value()) return;
  if (core_.config.sees_deaths) {
    survival_.seen.fetch_or(std::uint64_t{1} << node, std::memory_order_release);
    return;
  }
  survival_.order[n] = static_cast<std::uint8_t>(node);
  survival_.announced.store(n + 1, std::memory_order_release);
}

/// f(node) for each of a mask.
template <class F>
void survivor::each_node(std::uint64_t mask, F f) noexcept {
  for (std::uint16_t n = 0; n < core_.config.nodes; ++n) {
    if ((mask >> n & 1) != 0) f(node_id{n});
  }
}

/// Driving, not within a step.
void survivor::take_deaths() noexcept {
  watch::recovery& r = survival_.recovery;
  if (!survival_.is_told_of_more()) {
    if (!r.active()) tell_over();
    return;
  }
  recover(r.on_ended(survival_.told()));
  core_.settle();
}

void survivor::leave() noexcept {
  recover(survival_.recovery.on_leave());
  core_.settle();
}

void survivor::join(std::uint64_t members, std::uint64_t left) noexcept {
  joining_ |= std::uint64_t{1} << core_.config.self.value();
  recover(survival_.recovery.on_join(members, left));
  core_.settle();
}

bool survivor::take_recovery(const message& m, std::span<const std::byte> value) noexcept {
  watch::recovery& r = survival_.recovery;
  if (m.kind == message_kind::recovery) {
    // A marker may be faster than the launcher, who has told its sender.
    if (m.operation > static_cast<std::uint32_t>(watch::recovery::round::joined)) return hear_as_joiner(m, value), true;
    recover(r.on_marker(m.from.value(), static_cast<watch::recovery::round>(m.operation), {m.a, m.b, m.c, m.unit}));
    return true;
  }
  const bool watches = m.kind == message_kind::watch;  // who leaves wants to know that others live
  if (r.is_cut_off(m.from.value())) return !watches || ((r.dead() | r.ended()) >> m.from.value() & 1) != 0;
  if (r.leaves()) return !watches;  // who asked for something asks another node
  if (!r.is_old(m.from.value())) return false;
  if (m.kind >= message_kind::sync_first && m.kind <= message_kind::sync_last) {
    core_.objects.step([&](sync::machine& machine, sync::actions& out) { machine.absorb(m, value, out); });
    return true;
  }
  if (m.kind < message_kind::sync_first && core_.messages.of(m.kind).to == protocol::route::domain) {
    core_.protocols.feed(core_.protocols.domain(core_.messages.of(m.kind).of), [&](protocol::domain& of) {
      if (!of.on_message(m, value)) core_.in.refuse(m, "what it tells is nonsense");
    });
    return true;
  }
  region_slot* const slot = m.kind < message_kind::sync_first ? core_.regions.slot(m.region) : nullptr;
  if (slot == nullptr) return m.kind < message_kind::sync_first;  // services, and the watch, go on as ever
  core_.in.landed(*slot, m);
  if (core_.messages.of(m.kind).acquires) {  // a thread would go on by it
    answers_.push_back(m);
    return true;
  }
  message one = m;
  one.count = 1;
  for (std::uint64_t i = 0; i < m.count && m.unit + i < slot->machine->units(); ++i) {
    one.unit = m.unit + i;
    absorb(*slot, one);
  }
  core_.perform_steps();
  return true;
}

/// Of one unit: it was sent before its sender knew.
void survivor::absorb(region_slot& r, const message& one) noexcept {
  core_.actions.clear();
  r.machine->losses().absorb(one, core_.actions);
  core_.take_step(r);
}

template <class F>
void survivor::all_units(F f) noexcept {
  core_.regions.for_each([&](region_slot& r) {
    each_used_unit(r, [&](std::uint64_t unit) {
      core_.actions.clear();
      f(*r.machine, unit, core_.actions);
      if (core_.actions.size() != 0) core_.take_step(r);
    });
    core_.perform_steps();
  });
}

/// Of those that left, and whose process has ended, nothing more is on its way.
void survivor::drop_ended() noexcept {
  const std::uint64_t now_ended = survival_.recovery.ended() & ~std::exchange(ended_, survival_.recovery.ended());
  each_node(now_ended, [this](node_id node) { core_.wire.abandon(node); });
  if (now_ended != 0) core_.in.forget_landings(now_ended);
}

/// Before anything else that this node sends there: nothing that comes later is of what the other does not know.
void survivor::tell_who_joins() noexcept {
  const watch::recovery& r = survival_.recovery;
  const std::uint64_t here = r.members() & ~r.gone(), before = here & ~joining_;
  if (before == 0 || std::countr_zero(before) != core_.config.self.value()) return;
  each_node(here & joining_, [this](node_id to) {
    for (const state_transfer& t : transfers_) t.tell(t.context, to);
  });
}

void survivor::transfer(node_id to, unsigned number, std::uint64_t a, std::span<const std::byte> value) noexcept {
  message m;
  m.kind = message_kind::recovery;
  m.operation = first_transfer + number;
  m.from = m.requester = core_.config.self;
  m.a = a;
  m.payload_bytes = static_cast<std::uint32_t>(value.size());
  core_.out.send(to, m, value);
}

/// A member has it already.
void survivor::hear_as_joiner(const message& m, std::span<const std::byte> value) noexcept {
  const std::uint32_t number = m.operation - first_transfer;
  if (has_joined() || number >= transfers_.size()) return;
  transfers_[number].hear(transfers_[number].context, m.a, value);
}

void survivor::recover(watch::recovery::step s) noexcept {
  drop_ended();
  survival_.members.learn(0, 0, survival_.recovery.missed());
  if (survival_.recovery.leaves()) return go(s);
  if (s.begin) begin_recovery();
  if (s.report) {
    core_.protocols.acquire();
    all_units([](model::machine& m, std::uint64_t unit, model::actions& out) { m.losses().report(unit, out); });
    core_.objects.step(
        [torn = survival_.recovery.torn()](sync::machine& machine, sync::actions& out) { machine.report(out, torn); });
    send_markers(watch::recovery::round::reports);
  }
  if (s.settle) {
    all_units([](model::machine& m, std::uint64_t unit, model::actions& out) { m.losses().settle(unit, out); });
    send_markers(watch::recovery::round::settled);
  }
  if (s.copy) {
    all_units([](model::machine& m, std::uint64_t unit, model::actions& out) { m.losses().mend(unit, out); });
    core_.protocols.rebuild();
    core_.diffs.rebuild();
    core_.replicas.replicate();
    end_copying();
  }
  if (s.join) {
    core_.objects.step([](sync::machine& machine, sync::actions& out) { machine.settle(out); });
    send_markers(watch::recovery::round::joined);
  }
  if (s.go_on) go_on();
}

/// There is no launcher that says it: the death of which this node has learned last, by itself or from others.
void survivor::note_in_order(unsigned node) noexcept {
  const unsigned n = survival_.announced.load(std::memory_order_relaxed);
  survival_.order[n] = static_cast<std::uint8_t>(node);
  survival_.announced.store(n + 1, std::memory_order_release);
}

/// This node takes part as one that leaves: it has nothing, and is asked for nothing any more.
void survivor::go(watch::recovery::step s) noexcept {
  if (s.begin) {
    (void)learn_who_is_gone();
    send_markers(watch::recovery::round::none);
    core_.regions.for_each([](region_slot& r) { r.change.frozen.add(freeze::recovery); });
    send_markers(watch::recovery::round::cut);
  }
  if (s.leave) left_.store(true, std::memory_order_release);
}

/// Those of whom this node did not know. Who has come may be gone already.
std::uint64_t survivor::learn_who_is_gone() noexcept {
  const std::uint64_t come = survival_.members.join(survival_.recovery.members());
  joining_ |= come;
  each_node(come, [&](node_id node) { core_.watching.joins(node.value(), core_.now()); });
  const watch::recovery& r = survival_.recovery;
  const std::uint64_t others = ~(std::uint64_t{1} << core_.config.self.value());  // who leaves is still here
  const std::uint64_t now_gone = r.gone() & others & ~survival_.members.dead;
  survival_.members.learn(r.gone() & others, r.left(), r.missed());
  each_node(now_gone, [&](node_id node) {
    const bool dead = (r.dead() >> node.value() & 1) != 0;
    if (dead) core_.wire.abandon(node);
    core_.watching.is_dead(node.value(), core_.now());
    if (dead && core_.config.sees_deaths) note_in_order(node.value());
  });
  return now_gone;
}

void survivor::begin_recovery() noexcept {
  core_.in.forget_landings(survival_.recovery.dead());  // as long as nothing is inherited
  const std::uint64_t now_dead = learn_who_is_gone(), dead = survival_.members.dead;
  survival_.untold.fetch_and(~dead);
  survival_.suspects &= ~dead;
  if (survival_.suspects == 0) core_.watching.doubt_nobody();
  tell_who_joins();
  // Before gates open: who does not know of the death yet is to take what comes out of them as old.
  send_markers(watch::recovery::round::none);
  core_.regions.for_each([](region_slot& r) {
    r.change.frozen.add(freeze::recovery);
    r.change.sent = r.change.received = 0;  // from here on: what was sent before, others take as old
  });
  core_.held.forget();
  // What waits to be safe is as good as sent before; requests for operations are made again.
  constexpr auto all = std::numeric_limits<std::uint64_t>::max();
  core_.replicas.traffic.open_gate(all, [&](node_id to, const message& m, std::span<const std::byte> value) {
    if (m.kind != message_kind::atomic_request && !survival_.members.is_dead(to)) core_.out.send(to, m, value);
  });
  all_units([](model::machine& m, std::uint64_t unit, model::actions& out) { m.losses().cut(unit, out); });
  core_.diffs.cut();
  core_.stored.cut();
  core_.absent.cut([&](region_slot& r, const message& m) { absorb(r, m); });
  core_.perform_steps();
  core_.objects.step(
      [&](sync::machine& machine, sync::actions& out) { machine.cut(dead, out, survival_.members.left); });
  core_.protocols.cut(dead);
  end_lost_asks();
  for (const auto& l : survival_.listeners) {
    if (!l.when_over) each_node(now_dead, [&](node_id node) { l.tell(l.context, node.value()); });
  }
  send_markers(watch::recovery::round::cut);
}

void survivor::send_markers(watch::recovery::round round) noexcept {
  message m;
  m.kind = message_kind::recovery;
  m.operation = static_cast<std::uint32_t>(round);
  const auto known = survival_.recovery.known();
  m.a = known.dead;
  m.b = known.left;
  m.c = known.missed;
  m.unit = known.members;
  m.from = m.requester = core_.config.self;
  each_node(known.members & ~(known.dead | survival_.recovery.ended()),
            [&](node_id node) { core_.out.send(node, m, {}); });
}

/// Requests to a node that is dead.
void survivor::end_lost_asks() noexcept {
  core_.tokens.for_each([&](std::uint64_t token, op& o) {
    if (o.what() != op::type::call) return;
    auto& call = static_cast<call_op&>(o);
    if (call.region != nullptr || !survival_.members.is_dead(call.to)) return;
    (void)core_.tokens.take(token);
    call.complete(QUIRE_LOST);
  });
}

/// Atomic operations and pushes that have not been answered are asked for again. Whether an operation was done that a
/// dead manager had been asked for nobody knows; nor, where content is kept on two nodes, whether one was whose answer
/// waited for that.
void survivor::call_again() noexcept {
  std::vector<std::uint64_t> tokens;
  core_.tokens.for_each([&](std::uint64_t token, op& o) {
    if (o.what() == op::type::call && static_cast<call_op&>(o).region != nullptr) tokens.push_back(token);
  });
  for (const std::uint64_t token : tokens) {
    auto& call = static_cast<call_op&>(*core_.tokens.find(token));
    region_slot& r = *call.region;
    if (call.m.kind == message_kind::write_back) {  // stored_units::cut() has been everywhere
      --r.change.calls;
      (void)core_.tokens.take(token);
      call.execute(core_);
      continue;
    }
    const bool unknown = core_.config.replicas || is_silenced(call.to) ||
                         (r.can().relaxed && r.machine->authority_of(call.m.unit) != call.to);
    if (!call.pushes && unknown) {
      --r.change.calls;
      (void)core_.tokens.take(token);
      call.complete(QUIRE_PEER_LOST);
      continue;
    }
    if (!call.pushes) {
      call.to = r.machine->authority_of(call.m.unit);
      core_.actions.clear();
      r.machine->on_atomic(call.m, core_.actions);
      core_.take_step(r);
    } else {
      call.replies = 0;
      for (std::uint64_t i = 0; i < call.units; ++i) call.replies += r.bytes_of(call.first + i) != 0 ? 1 : 0;
      for (std::uint64_t i = 0; i < call.units; ++i) {
        if (r.bytes_of(call.first + i) == 0) continue;
        core_.actions.clear();
        r.machine->pushes().on_push(call.first + i, token, core_.actions);
        core_.take_step(r);
      }
    }
    core_.perform_steps();
  }
}

/// Of operations that were done when a node died. What was before them is where it belongs, unless who has answered is
/// dead, too.
void survivor::hear_answers() noexcept {
  const auto answers = std::exchange(answers_, {});
  for (const message& m : answers) {
    region_slot* const r = core_.regions.slot(m.region);
    if (r == nullptr) continue;
    if (!survival_.members.is_dead(m.from)) {
      absorb(*r, m);
    } else if (op* const o = core_.tokens.find(m.token); o != nullptr && o->what() == op::type::call) {
      (void)core_.tokens.take(m.token);
      --r->change.calls;
      static_cast<call_op*>(o)->complete(QUIRE_PEER_LOST);
    }
  }
  core_.perform_steps();
}

/// What it has done last nobody can tell.
bool survivor::is_silenced(node_id node) const noexcept {
  return survival_.members.is_dead(node) &&
         (!survival_.members.has_left(node) || (survival_.recovery.torn() >> node.value() & 1) != 0);
}

void survivor::go_on() noexcept {
  survival_.members.mend();
  joining_ = 0;
  joined_.store(true, std::memory_order_release);
  core_.diffs.on_copied();
  hear_answers();
  call_again();
  core_.objects.step([](sync::machine& machine, sync::actions& out) { machine.resume(out); });
  core_.regions.for_each([&](region_slot& r) {
    if (!survival_.recovery.active()) core_.changes.thaw(r, freeze::recovery, false);
  });
  core_.replicas.replicate();  // others may have gone on before, and asked
  hear_put_off();
  (void)core_.removing.look_at_postponed();
  tell_over();
}

/// Diffs of this node are where they belong, and content that lacked a backup has one.
void survivor::end_copying() noexcept {
  if (!survival_.recovery.copying() || core_.protocols.busy() || !core_.replicas.is_safe()) return;
  survival_.recovery.on_copied();
  send_markers(watch::recovery::round::copied);
}

namespace {
/// Locks and rounds are put together from what the survivors have, not from what is on its way.
bool is_made_anew(const message& m) noexcept {
  if (m.kind < message_kind::sync_first || m.kind > message_kind::sync_last) return false;
  const sync::kind k = sync::kind_of(m.kind);
  if (k == sync::kind::request) return sync::kind_of(sync::object_id{m.unit}) == sync::object_kind::mutex;
  return (k >= sync::kind::lock_request && k <= sync::kind::lock_revoked) || k == sync::kind::lock_survives ||
         sync::is_of_groups(k);
}
/// Threads of the receiver may go on by it.
bool lets_go_on(const message& m) noexcept {
  return m.kind >= message_kind::sync_first && m.kind <= message_kind::service_notice && !is_made_anew(m);
}
}  // namespace

bool survivor::puts_off(const message& m, std::span<const std::byte> value) noexcept {
  if (!lets_go_on(m)) return false;
  if (!survival_.members.is_dead(m.from)) coming_.push_back({{}, {}, m, {value.begin(), value.end()}});
  return true;
}

bool survivor::takes(node_id to, const message& m, std::span<const std::byte> value, model::edge what) noexcept {
  if (!lets_go_on(m) && (is_made_anew(m) || core_.consistency.open().recovering)) {
    core_.effects.transmit(to, m, value);
    return true;
  }
  if (!lets_go_on(m)) return false;
  leaving_.push_back({to, what, m, {value.begin(), value.end()}});
  return true;
}

/// The right of a lock stays here, until it is asked for again: diffs that were before it may yet be lost, with this
/// node, and who gets it then hears that.
void survivor::take_back(node_id to, const message& m, std::span<const std::byte> value, model::edge what) noexcept {
  if (m.kind == sync::message_kind_of(sync::kind::lock_grant))
    return core_.objects.step([&](sync::machine& machine, sync::actions& out) { machine.absorb(m, value, out); });
  if (survival_.members.is_dead(to)) return;
  if (lets_go_on(m)) return leaving_.push_back({to, what, m, {value.begin(), value.end()}});
  core_.effects.transmit(to, m, value);
}

void survivor::hear_put_off() noexcept {
  const auto leaving = std::exchange(leaving_, {});
  for (const put_off& p : leaving) {
    if (!survival_.members.is_dead(p.to)) core_.out.synchronise(p.to, p.m, p.value, p.what);
  }
  const auto coming = std::exchange(coming_, {});
  for (const put_off& p : coming) {
    if (!survival_.members.is_dead(p.m.from)) core_.in.admit(p.m, p.value);
  }
}

bool survivor::is_back(unsigned peer) noexcept {
  survival_.suspects &= ~(std::uint64_t{1} << peer);
  survival_.untold.fetch_and(~(std::uint64_t{1} << peer));
  return survival_.suspects != 0;
}

/// A death of which others have told is told here when the launcher has said so too: in its order.
void survivor::tell_over() noexcept {
  const unsigned announced = survival_.announced.load(std::memory_order_acquire);
  for (; survival_.over < announced; ++survival_.over) {
    const unsigned node = survival_.order[survival_.over];
    if ((survival_.members.dead >> node & 1) == 0) break;
    if (survival_.members.has_left(node_id{static_cast<std::uint16_t>(node)})) continue;  // that is no death
    for (const auto& l : survival_.listeners) {
      if (l.when_over) l.tell(l.context, node);
    }
  }
}

void survivor::suspect(unsigned peer, std::uint64_t silent_ms, bool tell) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << peer;
  if (((survival_.members.dead | survival_.suspects) & bit) != 0) return;
  survival_.suspects |= bit;
  survival_.silent_ms[peer].store(silent_ms);
  // The launcher hears of others, kills, and waits for the end of the accused. A node that hears nothing of that is cut
  // off from it, or it hangs.
  core_.watching.doubt(peer, silent_ms, core_.now() + 2 * core_.config.peer_limit_ns + 20 * second);
  if (tell) survival_.untold.fetch_or(bit);
  core_.host.call();
}

void survivor::tell_suspects() noexcept {
  const std::uint64_t untold = survival_.untold.exchange(0);
  for (unsigned peer = 0; peer < core_.config.nodes && peer < survival::most_nodes; ++peer) {
    if ((untold >> peer & 1) == 0) continue;
    const std::uint64_t silent_ms = survival_.silent_ms[peer].load();
    if (!core_.config.sees_deaths) {
      (void)core_.job.accuse(static_cast<int>(peer), silent_ms);
    } else if (silent_ms != 0) {  // else its process has ended, or is about to
      base::log(base::log_level::error, "node %u does not answer: nothing was heard from it for %.1f s; it is killed",
                peer, static_cast<double>(silent_ms) / 1000);
      core_.job.kill(static_cast<int>(peer));
    }
  }
}

}  // namespace quire::core
