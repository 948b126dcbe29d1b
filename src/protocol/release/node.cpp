// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/node.hpp"

#include <algorithm>
#include <utility>

namespace quire::release {

using model::message_kind;

// ---- Tasks ----

const protocol::domain_action* node::next(std::size_t left) {
  while (state_.agenda.size() > left) {
    go_on();
    if (const protocol::domain_action* const asked = state_.take(); asked != nullptr) return asked;
  }
  return nullptr;
}

void node::go_on() {
  task& t = state_.agenda.top();
  switch (t.what) {
    case task::kind::send:
      return send_on(t);
    case task::kind::leave:
      return leave_on(t);
    case task::kind::open_gate:
      return open_gate_on(t);
    case task::kind::hurry:
      return unhurried_.hurry_on(t.to, groups_);
    case task::kind::call:
      return unhurried_.call_on(t.to);
    case task::kind::tell:
      return tell_on(t);
    case task::kind::release:
      return release_on(t);
    case task::kind::look_at_kept:
      return kept_.look_on(t);
    case task::kind::end_keeping:
      return kept_.end_on(t);
    case task::kind::add_interval:
      return add_interval_on(t);
    case task::kind::relieve:
      return relieve_on(t);
    case task::kind::apply:
      return apply_on(t);
    case task::kind::give_lone:
      return moves_.give_lone_on(t);
    case task::kind::give_at_epoch:
      return moves_.give_at_epoch_on(t);
    case task::kind::acquire:
      return acquire_on(t);
    case task::kind::end_epoch:
      return end_epoch_on(t);
    case task::kind::hear:
      return arrivals_.hear_on();
    case task::kind::cut:
      return cut_on(t);
  }
}

// ---- Releases ----

void node::begin_release(node_id ahead_of, bool all_end) {
  task& t = state_.agenda.push(task::kind::release);
  t.to = ahead_of;
  t.flag = all_end;
}

void node::release_on(task& t) {
  enum : std::uint8_t { beginning, sorting, taking_diffs, closing, closed };
  auto& written = state_.open.written;
  switch (t.step) {
    case beginning:
      ++state_.open.releases;
      t.flag = t.flag || std::exchange(all_end_, false) || state_.open.twins > twin_limit_ / 2;
      t.step = sorting;
      return kept_.begin_look(t.flag);
    case sorting:
      if (written.empty()) return state_.agenda.pop();
      state_.open.keeps_none = t.flag;
      ++state_.count.releases;
      // Neighbours together: one system call, one message.
      std::sort(written.begin(), written.end());
      t.step = taking_diffs;
      return;
    case taking_diffs: {
      if (t.at >= written.size()) {
        t.step = closing;
        return state_.perform_all();
      }
      const written_unit w = written[t.at++];
      machine* const m = state_.machine_of(w.region);
      if (m == nullptr) return;
      state_.step.clear();
      m->copies().on_release(w.unit, state_.step);
      for (std::size_t i = 0; t.to != state_.self && i < state_.step.size(); ++i) {
        model::action& a = state_.step[i];
        if (a.kind == model::action_kind::send_diff && a.to == t.to) a.m.flags |= model::message_flag::unhurried;
      }
      return state_.perform(w.region);
    }
    case closing:
      state_.open.keeps_none = false;
      closed_.insert(closed_.end(), written.begin(), written.end());
      written.clear();
      ++releases_;
      relieved_ = 0;
      t.step = closed;
      return state_.tell_released();
    case closed:
      state_.agenda.pop();
      return open_gate();
    default:
      CHECK(!"a step of a release");
  }
}

/// Twins are short: none is kept, and units written first are sent first. Those written last need theirs, also beyond
/// the limit.
void node::relieve() {
  if (state_.open.twins <= twin_limit_ || state_.open.recovering) return;
  std::uint64_t needed = 0;
  state_.open.newest.for_each([&](const written_unit& w) {
    if (const machine* const m = state_.machine_of(w.region); m != nullptr) needed += m->twins_beside(w.unit);
  });
  if (state_.open.twins <= needed) return;
  state_.agenda.push(task::kind::relieve).end = std::max<std::uint64_t>(twin_limit_ - twin_limit_ / 8, needed);
  kept_.begin_look(true);  // first
}

void node::relieve_on(task& t) {
  enum : std::uint8_t { sending, sent };
  const auto& written = state_.open.written;
  if (t.step == sent) {
    if (relieved_ == written.size()) relieved_ = 0;
    return state_.agenda.pop();
  }
  if (state_.open.twins <= t.end || relieved_ >= written.size()) {
    t.step = sent;
    return state_.perform_all();
  }
  const written_unit w = written[relieved_++];
  machine* const m = state_.machine_of(w.region);
  if (m == nullptr || state_.open.newest.contains({w.region, m->first_beside(w.unit)})) return;
  state_.step.clear();
  m->copies().on_twins_short(w.unit, state_.step);
  ++state_.count.early_diffs;
  state_.perform(w.region);
}

void node::on_applied() {
  if (!state_.open.lone.empty() || !state_.open.merged.empty()) state_.agenda.push(task::kind::apply);
}

void node::apply_on(task& t) {
  enum : std::uint8_t { giving, merging };
  auto& merged = state_.open.merged;
  if (t.step == giving) {
    t.step = merging;
    return state_.open.lone.empty() ? void() : moves_.begin_lone(at_rest());
  }
  if (t.at < merged.size()) {
    const written_unit w = merged[t.at++];
    machine* const m = state_.machine_of(w.region);
    if (m == nullptr) return;
    state_.step.clear();
    m->updates().on_merged(w.unit, state_.step);
    return state_.step.size() != 0 ? state_.perform(w.region) : void();
  }
  if (t.at != 0) state_.perform_all();
  merged.clear();
  state_.agenda.pop();
}

void node::begin_interval() {
  if (!leaving_.empty()) state_.agenda.push(task::kind::add_interval);
}

/// What was written is told from now on, and sent before that to those who will read it.
void node::add_interval_on(task& t) {
  enum : std::uint8_t { adding, updating };
  if (t.step == adding) {
    t.step = updating;
    std::sort(leaving_.begin(), leaving_.end());
    leaving_.erase(std::unique(leaving_.begin(), leaving_.end()), leaving_.end());
    history_.add_interval(leaving_);
    state_.open.told = history_.known(state_.self);
    told_.swap(leaving_);
    return state_.tell_interval(state_.open.told, leaving_releases_);
  }
  if (t.at < told_.size()) {
    const written_unit w = told_[t.at++];
    machine* const m = state_.machine_of(w.region);
    if (m == nullptr || !m->is_home(w.unit)) return;
    state_.open.keeps_none = state_.open.twins > twin_limit_ / 2;  // a home that begins to keep a unit makes a twin
    state_.step.clear();
    m->updates().on_told(w.unit, state_.open.told, state_.step);
    return state_.step.size() != 0 ? state_.perform(w.region) : void();
  }
  state_.open.keeps_none = false;
  told_.clear();
  state_.agenda.pop();
  state_.perform_all();
}

/// All that this node knows, before what comes behind it (I5).
void node::tell(node_id to) {
  if (to != state_.self) state_.agenda.push(task::kind::tell).to = to;
}

void node::tell_on(task& t) {
  enum : std::uint8_t { announcing, telling };
  if (t.step == announcing) {
    t.step = telling;
    moves_.announce();
    t.at = history_.told(t.to);
    return;
  }
  const notice* next = history_.next_for(t.to, t.at);
  if (next == nullptr) {
    history_.set_told(t.to, history_.end());
    return state_.agenda.pop();
  }
  message m;
  m.kind = message_kind::notices;
  m.flags = model::message_flag::unhurried;  // what it tells counts for what comes behind it
  m.from = m.requester = state_.self;
  notice_writer out(buffer_);
  for (; next != nullptr; next = history_.next_for(t.to, ++t.at)) {
    notice n = *next;
    n.life = state_.regions.life_of(n.region);
    if (!out.add(n)) break;
    ++state_.count.notices_sent;
  }
  m.payload_bytes = static_cast<std::uint32_t>(out.bytes().size());
  state_.transmit(t.to, m, out.bytes());
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
  state_.regions.forget(region);
  relieved_ = 0;
}

// ---- Acquires ----

bool node::on_notices(node_id from, std::span<const std::byte> bytes) {
  notice_reader in(bytes);
  for (notice n; in.next(n);) {
    if (n.writer.value() >= nodes_ || n.home.value() >= nodes_) return false;
    if (n.life != state_.regions.life_of(n.region)) {
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
  task& t = state_.agenda.push(task::kind::acquire);
  t.first = t.at = std::max(history_.applied(), history_.begin());
}

void node::acquire_on(task& t) {
  enum : std::uint8_t { applying, applied };
  if (t.step == applying) {
    if (t.at < history_.end()) return apply_notice(t);
    t.step = applied;
    return state_.perform_all();
  }
  if (t.flag && !busy()) moves_.learn(t.first);  // diffs of the copies that have just gone count, too
  if (t.flag || t.other) ++state_.count.acquires;
  history_.set_applied(history_.end());
  state_.agenda.pop();
  state_.tell_acquired(history_.timestamp());
}

/// To the next of its units that has a copy here.
void node::apply_notice(task& t) {
  const notice& n = history_[t.at];
  machine* const m = n.writer == state_.self || n.count == 0 ? nullptr : state_.machine_of(n.region);
  if (m != nullptr) {
    (n.moves != 0 ? t.flag : t.other) = true;
    const std::uint64_t end = n.moves != 0 ? n.first : end_in(*m, n);
    while (n.first + t.within < end) {
      state_.step.clear();
      m->copies().on_notice(n.first + t.within++, n.writer, n.interval, history_.source(t.at), state_.step);
      if (state_.step.size() != 0) return state_.perform(n.region);
    }
  }
  ++t.at;
  t.within = 0;
}

// ---- Epochs ----

void node::on_gathered(round_marks& group) {
  if (group.packed != history_.packed()) group.gathered = group.settled = history_.begin();
  group.packed = history_.packed();
  group.settled = group.gathered;
  group.gathered = history_.end();
}

void node::on_epoch(round_marks& group) {
  if (state_.open.recovering) return on_round_refused(group);
  state_.agenda.push(task::kind::end_epoch).group = &group;
  acquire();  // first
}

void node::end_epoch_on(task& t) {
  enum : std::uint8_t { looking, forgetting };
  round_marks& group = *t.group;
  if (t.step == looking && group.packed == history_.packed()) {
    t.step = forgetting;
    return at_rest() ? moves_.begin_at_epoch(epoch_) : void();
  }
  if (t.step == forgetting) {
    // What was told upwards in the round before has reached every node by the end of that round, and every node had
    // ended that round when it entered this one (I11).
    history_.forget(group.settled);
  } else {
    group.gathered = group.settled = history_.begin();
    group.packed = history_.packed();
  }
  epoch_ = history_.end();
  ++state_.open.epochs;
  state_.agenda.pop();
}

}  // namespace quire::release
