// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/node.hpp"

#include <algorithm>
#include <utility>

namespace quire::release {

using model::message_kind;

// ---- Releases ----

void node::release(bool all_end) {
  ++state_.open.releases;
  const bool none = all_end || std::exchange(all_end_, false) || state_.open.twins > twin_limit_ / 2;
  kept_.look(none);
  state_.effects.find_written();
  if (state_.open.written.empty()) return;
  state_.open.keeps_none = none;
  ++state_.count.releases;
  // Neighbours together: one system call, one message.
  std::sort(state_.open.written.begin(), state_.open.written.end());
  for (const written_unit& w : state_.open.written) {
    machine* const m = state_.machine_of(w.region);
    if (m == nullptr) continue;
    state_.step.clear();
    m->copies().on_release(w.unit, state_.step);
    state_.effects.perform(w.region, state_.step);
  }
  state_.effects.perform_all();
  state_.open.keeps_none = false;
  closed_.insert(closed_.end(), state_.open.written.begin(), state_.open.written.end());
  state_.open.written.clear();
  ++releases_;
  state_.effects.on_released();
  relieved_ = 0;
  open_gate();
}

/// Twins are short: none is kept, and units written first are sent first. Those written last need theirs, also beyond
/// the limit.
void node::relieve() {
  if (state_.open.twins <= twin_limit_) return;
  std::uint64_t needed = 0;
  state_.open.newest.for_each([&](const written_unit& w) {
    if (const machine* const m = state_.machine_of(w.region); m != nullptr) needed += m->twins_beside(w.unit);
  });
  if (state_.open.twins <= needed) return;
  kept_.look(true);
  const std::uint64_t goal = std::max<std::uint64_t>(twin_limit_ - twin_limit_ / 8, needed);
  for (; state_.open.twins > goal && relieved_ < state_.open.written.size(); ++relieved_) {
    const written_unit w = state_.open.written[relieved_];
    machine* const m = state_.machine_of(w.region);
    if (m == nullptr || state_.open.newest.contains({w.region, m->first_beside(w.unit)})) continue;
    state_.step.clear();
    m->copies().on_twins_short(w.unit, state_.step);
    state_.effects.perform(w.region, state_.step);
    ++state_.count.early_diffs;
  }
  state_.effects.perform_all();
  if (relieved_ == state_.open.written.size()) relieved_ = 0;
}

void node::on_applied() {
  if (!state_.open.lone.empty()) moves_.give_lone(at_rest());
  if (state_.open.merged.empty()) return;
  for (const written_unit& w : state_.open.merged) {
    machine* const m = state_.machine_of(w.region);
    if (m == nullptr) continue;
    state_.step.clear();
    m->updates().on_merged(w.unit, state_.step);
    if (state_.step.size() != 0) state_.effects.perform(w.region, state_.step);
  }
  state_.open.merged.clear();
  state_.effects.perform_all();
}

void node::release_ahead(node_id next) {
  ahead_ = true;
  next_ = next;
  release();
  ahead_ = false;
}

/// What was written is told from now on, and sent before that to those who will read it.
void node::add_interval() {
  if (leaving_.empty()) return;
  std::sort(leaving_.begin(), leaving_.end());
  leaving_.erase(std::unique(leaving_.begin(), leaving_.end()), leaving_.end());
  history_.add_interval(leaving_);
  state_.open.told = history_.known(state_.self);
  state_.effects.on_interval(state_.open.told, leaving_releases_);
  told_.swap(leaving_);
  for (const written_unit& w : told_) {
    machine* const m = state_.machine_of(w.region);
    if (m == nullptr || !m->is_home(w.unit)) continue;
    state_.open.keeps_none = state_.open.twins > twin_limit_ / 2;  // a home that begins to keep a unit makes a twin
    state_.step.clear();
    m->updates().on_told(w.unit, state_.open.told, state_.step);
    if (state_.step.size() != 0) state_.effects.perform(w.region, state_.step);
  }
  state_.open.keeps_none = false;
  told_.clear();
  state_.effects.perform_all();
}

/// All that this node knows, before what comes behind it (I5).
void node::tell(node_id to) {
  if (to == state_.self) return;
  moves_.announce();
  history::position at = history_.told(to);
  const notice* next = history_.next_for(to, at);
  if (next != nullptr) {
    message m;
    m.kind = message_kind::notices;
    m.flags = model::message_flag::unhurried;  // what it tells counts for what comes behind it
    m.from = m.requester = state_.self;
    notice_writer out(buffer_);
    while (next != nullptr) {
      notice n = *next;
      n.life = state_.effects.life_of(n.region);
      if (out.add(n)) {
        ++state_.count.notices_sent;
        next = history_.next_for(to, ++at);
        if (next != nullptr) continue;
      }
      m.payload_bytes = static_cast<std::uint32_t>(out.bytes().size());
      state_.effects.transmit(to, m, out.bytes());
      out.clear();
    }
  }
  history_.set_told(to, history_.end());
}

void node::forget(model::region_id region) {
  history_.forget_region(region);
  const auto drop = [region](auto& list) {
    std::erase_if(list, [region](const written_unit& w) { return w.region == region; });
  };
  drop(state_.open.written);
  drop(state_.open.came);
  drop(state_.open.merged);
  std::erase_if(state_.open.lone, [region](const lone_unit& l) { return l.what.region == region; });
  drop(closed_);
  drop(leaving_);
  std::erase_if(state_.open.kept, [region](const kept_unit& k) { return k.what.region == region; });
  state_.open.newest.forget(region);
  relieved_ = 0;
}

// ---- Acquires ----

bool node::on_notices(node_id from, std::span<const std::byte> bytes) {
  notice_reader in(bytes);
  for (notice n; in.next(n);) {
    if (n.writer.value() >= nodes_ || n.home.value() >= nodes_) return false;
    if (n.life != state_.effects.life_of(n.region)) {
      if (!n.last) continue;
      n.region = {};
      n.count = n.moves = 0;
    }
    n.life = 0;
    if (history_.learn(n, from)) ++state_.count.notices_heard;
  }
  return in.ok();
}

/// Copies that are older than a notice go (I6).
void node::acquire() {
  if (history_.applied() == history_.end()) return;
  bool written = false, moved = false;
  const history::position first = std::max(history_.applied(), history_.begin());
  for (history::position at = first; at < history_.end(); ++at) {
    const notice& n = history_[at];
    machine* const m = n.writer == state_.self || n.count == 0 ? nullptr : state_.machine_of(n.region);
    if (m == nullptr) continue;
    (n.moves != 0 ? moved : written) = true;
    for (std::uint64_t unit = n.first; n.moves == 0 && unit < end_in(*m, n); ++unit) {
      state_.step.clear();
      m->copies().on_notice(unit, n.writer, n.interval, history_.source(at), state_.step);
      if (state_.step.size() != 0) state_.effects.perform(n.region, state_.step);
    }
  }
  state_.effects.perform_all();
  if (moved && !busy()) moves_.learn(first);  // diffs of the copies that have just gone count, too
  if (written || moved) ++state_.count.acquires;
  history_.set_applied(history_.end());
  state_.effects.on_acquired(history_.timestamp());
}

// ---- Epochs ----

void node::on_gathered(round_marks& group) {
  if (group.packed != history_.packed()) group.gathered = group.settled = history_.begin();
  group.packed = history_.packed();
  group.settled = group.gathered;
  group.gathered = history_.end();
}

void node::on_epoch(round_marks& group) {
  acquire();
  if (group.packed == history_.packed()) {
    if (at_rest()) moves_.give_at_epoch(epoch_);
    // What was told upwards in the round before has reached every node by the end of that round, and every node had
    // ended that round when it entered this one (I11).
    history_.forget(group.settled);
  } else {
    group.gathered = group.settled = history_.begin();
    group.packed = history_.packed();
  }
  epoch_ = history_.end();
}

}  // namespace quire::release
