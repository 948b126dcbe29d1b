// SPDX-License-Identifier: BSD-3-Clause
// Units that a store keeps: what the core does around flush.cpp of the protocol. A unit's content is filled at its home
// when somebody needs it, and all that is about the unit waits for it there, in order. The store may fail, as often as
// the options say, and does each write at a later moment.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "sim/bare/sequential_cluster.hpp"

namespace quire::sim {

using model::flush_outcome;
using model::message_kind;

namespace {
std::string of_unit(std::uint64_t unit) { return " (unit " + std::to_string(unit) + ")"; }
}  // namespace

void cluster::begin_in_stores() {
  state_.store.assign(std::size_t{options_.units} * options_.words, 0);
  state_.parked_here.resize(options_.units);
  state_.syncs.resize(options_.units);
  state_.leaves.resize(options_.units);
  for (std::uint64_t unit = 0; unit < options_.units; ++unit) {
    const node_id home = manager_of(unit);
    state_.where[home.value() * options_.units + unit] = frame_gone | frame_stored;
    std::ranges::fill(frame(home, unit), frame_is_gone);
  }
}

// ---- Fills

/// True if the message waits. Of what needs no content, only behind others.
bool cluster::park_message(node_id to, const message& m) {
  if (to != manager_of(m.unit)) return false;
  auto& queue = state_.parked_here[m.unit];
  const bool content_free = m.kind == message_kind::copy_dropped;
  if (queue.empty() && (content_free || !is_absent(to, m.unit))) return false;
  if (m.payload_bytes != 0) fail("content comes to who has it" + of_unit(m.unit));
  queue.push_back({m, 0});
  return true;
}

bool cluster::park_thread(std::size_t t, const operation& o) {
  const node_id node = node_of(t);
  if (node != manager_of(o.unit) || (state_.parked_here[o.unit].empty() && !is_absent(node, o.unit))) return false;
  switch (o.what) {
    case operation_kind::unpin:
    case operation_kind::page_out:
    case operation_kind::advise_writing:
    case operation_kind::advise_nothing:
      return false;
    case operation_kind::read_ahead:
    case operation_kind::write_ahead:
    case operation_kind::guess_ahead:
    case operation_kind::map_around:
      finish_operation(t);
      return true;  // hints
    default:
      break;
  }
  state_.threads[t].now = thread::state::waits_for_store;
  state_.parked_here[o.unit].push_back({{}, static_cast<std::uint32_t>(t)});
  return true;
}

/// What waits goes on in order; if the content cannot be had, requests are refused, and threads get their signal or
/// status.
void cluster::end_fill(std::uint64_t unit, bool well) {
  const node_id home = manager_of(unit);
  if (!well) ++state_.failed;
  if (well) {
    std::ranges::copy(stored(unit), frame(home, unit).begin());
    state_.where[home.value() * options_.units + unit] = 0;
  }
  for (const parked& p : std::exchange(state_.parked_here[unit], {})) {
    if (p.m.kind == message_kind::invalid) {
      if (well) {
        state_.threads[p.thread].now = thread::state::ready;
        run_thread(p.thread);
      } else {
        refuse_thread(p.thread);
      }
    } else {
      model::actions out;
      sequential::machine& at_home = machines_[home.value()];
      if (well || !at_home.stored().on_unfilled(p.m, EIO, out)) at_home.on_message(p.m, out);
      finish_step(home, unit, &p.m, out);
    }
  }
}

/// Threads of the node that wait for the unit get a signal, or a status, and go on.
void cluster::refuse(node_id node, std::uint64_t unit) {
  if (state_.failed == 0) fail("a unit is refused, and the store has not failed" + of_unit(unit));
  for (const std::size_t t : threads_of(node)) {
    if (state_.threads[t].now != thread::state::waits_for_unit || operation_of(t).unit != unit) continue;
    refuse_thread(t);
  }
}

void cluster::refuse_thread(std::size_t t) {
  const std::uint32_t unit = operation_of(t).unit;
  if (state_.threads[t].pinning) {
    model::actions out;
    machines_[node_of(t).value()].pins().on_pin_given_up(unit, out);
    if (out.size() != 0) fail("a pin that has not come to be has kept an order" + of_unit(unit));
  }
  finish_operation(t);
}

// ---- Flushes

void cluster::begin_flush(node_id node, std::uint64_t unit) {
  if (node != manager_of(unit)) fail("a node that is not the home flushes" + of_unit(unit));
  for (const access a : views(unit)) {
    if (a == access::write) fail("content is flushed while threads may write" + of_unit(unit));
  }
  if (std::ranges::any_of(state_.flushes, [&](const flush_under_way& f) { return f.unit == unit; }))
    fail("two flushes of a unit at a time" + of_unit(unit));
  bring(node, unit, content_use::read);
  const auto now = content(node, unit);
  state_.flushes.push_back({unit, {now.begin(), now.end()}});
  for (waiting_sync& w : state_.syncs[unit]) w.next = false;
}

/// A write that fails may have been done in part.
void cluster::end_flush(std::size_t flush, bool well) {
  const flush_under_way f = std::move(state_.flushes[flush]);
  state_.flushes.erase(state_.flushes.begin() + static_cast<std::ptrdiff_t>(flush));
  const auto there = std::span(state_.store).subspan(f.unit * options_.words, options_.words);
  if (f.content.back() < there.back()) fail("the store goes back" + of_unit(f.unit));
  std::ranges::copy_n(f.content.begin(), well ? options_.words : 1, there.begin());
  if (!well) ++state_.failed;
  auto& waiting = state_.syncs[f.unit];
  std::vector<waiting_sync> done;
  for (const waiting_sync& w : waiting) {
    if (!w.next) done.push_back(w);
  }
  std::erase_if(waiting, [](const waiting_sync& w) { return !w.next; });
  const node_id home = manager_of(f.unit);
  model::actions out;
  machines_[home.value()].stored().on_flushed(f.unit, well, out);
  finish_step(home, f.unit, nullptr, out);
  for (const waiting_sync& w : done) {
    message r = w.call;
    r.kind = message_kind::written_back;
    r.operation = well ? 0 : EIO;
    driver_.send(home, w.call.requester, r, {});
  }
}

/// Home, and clean: the store has it.
bool cluster::leave_to_store(node_id node, std::uint64_t unit) {
  if (!options_.stored || node != manager_of(unit) || is_absent(node, unit) ||
      !machines_[node.value()].stored().is_clean(unit))
    return false;
  bring(node, unit, content_use::changed);
  if (!std::ranges::equal(content(node, unit), stored(unit)))
    fail("content goes, and the store has something else" + of_unit(unit));
  state_.where[node.value() * options_.units + unit] = frame_gone | frame_stored;
  std::ranges::fill(frame(node, unit), frame_is_gone);
  return true;
}

/// Zero, as if somebody wrote it: each write is counted.
void cluster::clear(std::span<std::uint64_t> words, std::uint64_t unit) {
  std::ranges::fill(words, 0);
  words.back() = latest(unit, options_.words - 1);
}

/// Whoever has asked hears of it. What is gone nobody may have, nor look at.
void cluster::leave_memory(node_id node, std::uint64_t unit, model::leave_end end) {
  auto& calls = state_.leaves[unit];
  if (calls.empty()) fail("a unit leaves memory, and nobody has asked for it" + of_unit(unit));
  const bool discards = std::ranges::any_of(
      calls, [&](const message& m) { return m.b == static_cast<std::uint64_t>(operation_kind::discard_content); });
  if (node != manager_of(unit)) fail("a node that is not the home drops content" + of_unit(unit));
  if (end == model::leave_end::failed && state_.failed == 0)
    fail("a unit does not leave memory, and the store has not failed" + of_unit(unit));
  const bool alone = end == model::leave_end::gone || end == model::leave_end::alone;
  for (std::uint16_t n = 0; alone && n < options_.nodes; ++n) {
    if (node_id{n} != node && machines_[n].right_of(unit) != access::none)
      fail("a unit leaves memory, and another node has a copy" + of_unit(unit));
    if (node_id{n} != node && view(node_id{n}, unit) != access::none)
      fail("a unit leaves memory, and threads of another node may look at it" + of_unit(unit));
  }
  const bool flushed = std::ranges::any_of(state_.flushes, [&](const flush_under_way& f) { return f.unit == unit; });
  if (alone && flushed) fail("a unit leaves memory while it is flushed" + of_unit(unit));
  const std::span there = std::span(state_.store).subspan(unit * options_.words, options_.words);
  if (end == model::leave_end::gone) {
    if (view(node, unit) != access::none) fail("a unit leaves memory, and threads may look at it" + of_unit(unit));
    if (!discards && !std::ranges::equal(content(node, unit), stored(unit)))
      fail("content is dropped, and the store has something else" + of_unit(unit));
    state_.where[node.value() * options_.units + unit] = frame_gone | frame_stored;
    std::ranges::fill(frame(node, unit), frame_is_gone);
  }
  if (discards && alone) {
    for (std::uint64_t word = 0; word + 1 < options_.words; ++word) latest(unit, word) = 0;
    ++latest(unit, options_.words - 1);
    const bool in_store = is_absent(node, unit);
    if (!in_store) bring(node, unit, content_use::changed);
    clear(in_store ? there : frame(node, unit), unit);
  }
  if (end == model::leave_end::gone) {
    std::vector<waiting_sync> done;
    for (const waiting_sync& w : state_.syncs[unit]) {
      if (w.next) done.push_back(w);
    }
    std::erase_if(state_.syncs[unit], [](const waiting_sync& w) { return w.next; });
    for (const waiting_sync& w : done) {
      message r = w.call;
      r.kind = message_kind::written_back;
      r.b = 0;
      driver_.send(node, r.requester, r, {});
    }
  }
  for (const message& m : std::exchange(calls, {})) {
    message r = m;
    r.kind = message_kind::written_back;
    r.operation = end == model::leave_end::failed ? EIO : 0;
    driver_.send(node, m.requester, r, {});
  }
}

// ---- Syncs

void cluster::call_sync(std::size_t t, const operation& o) {
  state_.threads[t].now = thread::state::waits_for_call;
  message m;
  m.kind = message_kind::write_back;
  m.unit = o.unit;
  m.requester = node_of(t);
  m.token = t + 1;
  m.a = latest(o.unit, options_.words - 1);
  m.b = static_cast<std::uint64_t>(o.what);
  driver_.send(node_of(t), manager_of(o.unit), m, {});
}

/// At the home the call waits for the flush that has what was written before it; where it was made, the store is looked
/// at.
bool cluster::take_sync(node_id to, const message& m) {
  if (m.kind == message_kind::written_back) {
    const std::size_t t = m.token - 1;
    if (state_.threads[t].now != thread::state::waits_for_call || operation_of(t).what < operation_kind::sync)
      fail("a sync ends twice");
    const bool syncs = operation_of(t).what == operation_kind::sync;
    if (syncs && m.operation == 0 && stored(m.unit).back() < m.a)
      fail("a sync has ended, and the store has not what was written before it" + of_unit(m.unit));
    if (m.operation != 0 && state_.failed == 0) fail("a sync fails, and no store has" + of_unit(m.unit));
    finish_operation(t);
    return true;
  }
  if (m.kind != message_kind::write_back) return false;
  model::actions out;
  if (m.b != static_cast<std::uint64_t>(operation_kind::sync)) {
    const bool drops = m.b == static_cast<std::uint64_t>(operation_kind::drop_content);
    state_.leaves[m.unit].push_back(m);
    machines_[to.value()].stored().on_leave(m.unit, drops ? model::leave::clean : model::leave::discard, out);
    finish_step(to, m.unit, &m, out);
    return true;
  }
  const flush_outcome outcome = machines_[to.value()].stored().on_flush(m.unit, out);
  if (outcome != flush_outcome::clean) state_.syncs[m.unit].push_back({m, outcome == flush_outcome::next});
  if (outcome == flush_outcome::clean && out.size() != 0) fail("a unit is clean, and is flushed" + of_unit(m.unit));
  finish_step(to, m.unit, &m, out);
  if (outcome != flush_outcome::clean) return true;
  message r = m;
  r.kind = message_kind::written_back;
  driver_.send(to, m.requester, r, {});
  return true;
}

}  // namespace quire::sim
