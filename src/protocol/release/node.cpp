// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/node.hpp"

#include <algorithm>
#include <utility>

namespace quire::release {

using model::message_kind;

namespace {
/// The part of a notice that the region has: what came from elsewhere may say anything.
std::uint64_t end_in(const machine& m, const notice& n) noexcept {
  return n.first < m.units() ? n.first + std::min<std::uint64_t>(n.count, m.units() - n.first) : n.first;
}
}  // namespace

// ---- Releases ----

void node::release(bool all_end) {
  const bool none = all_end || std::exchange(all_end_, false) || open_.twins > twin_limit_ / 2;
  look_at_kept(none);
  effects_.find_written();
  if (open_.written.empty()) return;
  open_.keeps_none = none;
  ++count_.releases;
  // Neighbours together: one system call, one message.
  std::sort(open_.written.begin(), open_.written.end());
  for (const written_unit& w : open_.written) {
    machine* const m = machine_of(w.region);
    if (m == nullptr) continue;
    actions_.clear();
    m->copies().on_release(w.unit, actions_);
    effects_.perform(w.region, actions_);
  }
  effects_.perform_all();
  open_.keeps_none = false;
  closed_.insert(closed_.end(), open_.written.begin(), open_.written.end());
  open_.written.clear();
  relieved_ = 0;
  open_gate();
}

/// Which units that keep their right have been written since the last release, and which have not been for long.
void node::look_at_kept(bool all_end) {
  if (open_.kept.empty()) return;
  std::erase_if(open_.kept, [this](const kept_unit& k) {
    machine* const m = machine_of(k.what.region);
    return m == nullptr || !m->kept().is_kept(k.what.unit);
  });
  constexpr std::uint32_t most_idle = 8;
  for (kept_unit& k : open_.kept) {
    k.ends = all_end || k.idle >= most_idle;
    if (!k.ends) continue;
    actions_.clear();
    machine_of(k.what.region)->kept().on_keep_ends(k.what.unit, actions_);
    effects_.perform(k.what.region, actions_);
  }
  effects_.perform_all();  // what is compared next is not written any more
  for (kept_unit& k : open_.kept) {
    machine& m = *machine_of(k.what.region);
    if (!m.kept().is_kept(k.what.unit)) continue;
    const bool written = effects_.differs(k.what.region, k.what.unit);
    if (written) m.rights().on_written(k.what.unit);
    k.idle = written ? 0 : k.idle + 1;
    if (!k.ends) continue;
    actions_.clear();
    m.kept().on_keep_over(k.what.unit, actions_);
    effects_.perform(k.what.region, actions_);
  }
  effects_.perform_all();
  std::erase_if(open_.kept, [](const kept_unit& k) { return k.ends; });
}

/// The same of one unit, which ends.
void node::stop_keeping(machine& m, const written_unit& w) {
  actions_.clear();
  m.kept().on_keep_ends(w.unit, actions_);
  effects_.perform(w.region, actions_);
  effects_.perform_all();
  if (effects_.differs(w.region, w.unit)) m.rights().on_written(w.unit);
  actions_.clear();
  m.kept().on_keep_over(w.unit, actions_);
  effects_.perform(w.region, actions_);
}

/// Twins are short: none is kept, and units written first are sent first. Those written last need theirs, also beyond the limit.
void node::relieve() {
  const std::uint64_t needed = open_.newest.pages();
  if (open_.twins <= std::max<std::uint64_t>(twin_limit_, needed)) return;
  look_at_kept(true);
  const std::uint64_t goal = std::max<std::uint64_t>(twin_limit_ - twin_limit_ / 8, needed);
  for (; open_.twins > goal && relieved_ < open_.written.size(); ++relieved_) {
    const written_unit w = open_.written[relieved_];
    machine* const m = machine_of(w.region);
    if (m == nullptr || open_.newest.contains(w)) continue;
    actions_.clear();
    m->copies().on_twins_short(w.unit, actions_);
    effects_.perform(w.region, actions_);
    ++count_.early_diffs;
  }
  effects_.perform_all();
  if (relieved_ == open_.written.size()) relieved_ = 0;
}

void node::on_applied() {
  if (!open_.lone.empty()) give_lone();
  if (open_.merged.empty()) return;
  for (const written_unit& w : open_.merged) {
    machine* const m = machine_of(w.region);
    if (m == nullptr) continue;
    actions_.clear();
    m->updates().on_merged(w.unit, actions_);
    if (actions_.size() != 0) effects_.perform(w.region, actions_);
  }
  open_.merged.clear();
  effects_.perform_all();
}

/// Between barriers, too, a home goes to who alone writes the unit. As in move_homes(); another diff comes where this is not the time.
void node::give_lone() {
  if (!busy() && closed_.empty() && leaving_.empty()) {
    open_.content_leaves = effects_.content_leaves();
    for (const lone_unit& l : open_.lone) {
      machine* const m = machine_of(l.what.region);
      if (m == nullptr || m->kept().is_kept(l.what.unit)) continue;
      actions_.clear();
      m->homes().on_only_writer(l.what.unit, l.writer, actions_);
      if (actions_.size() != 0) effects_.perform(l.what.region, actions_);
    }
    effects_.perform_all();
  }
  open_.lone.clear();
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
  open_.told = history_.known(self_);
  told_.swap(leaving_);
  for (const written_unit& w : told_) {
    machine* const m = machine_of(w.region);
    if (m == nullptr || !m->is_home(w.unit)) continue;
    open_.keeps_none = open_.twins > twin_limit_ / 2;  // a home that begins to keep a unit makes a twin
    actions_.clear();
    m->updates().on_told(w.unit, open_.told, actions_);
    if (actions_.size() != 0) effects_.perform(w.region, actions_);
  }
  open_.keeps_none = false;
  told_.clear();
  effects_.perform_all();
}

/// The new home says that it is one, and not before: a node that heard of it earlier would send it messages that it could only send back (I9).
void node::announce_homes() {
  if (open_.came.empty()) return;
  std::sort(open_.came.begin(), open_.came.end());
  for (const written_unit& w : open_.came) {
    const machine* const m = machine_of(w.region);
    if (m != nullptr && m->is_home(w.unit)) history_.add_move(w.region, w.unit, self_, m->unit(w.unit).moves);
  }
  open_.came.clear();
  history_.end_moves();
  open_.told = history_.known(self_);
}

/// All that this node knows, before what comes behind it (I5).
void node::tell(node_id to) {
  if (to == self_) return;
  announce_homes();
  history::position at = history_.told(to);
  const notice* next = history_.next_for(to, at);
  if (next != nullptr) {
    message m;
    m.kind = message_kind::notices;
    m.flags = model::message_flag::unhurried;  // what it tells counts for what comes behind it
    m.from = m.requester = self_;
    notice_writer out(buffer_);
    while (next != nullptr) {
      notice n = *next;
      n.life = effects_.life_of(n.region);
      if (out.add(n)) {
        ++count_.notices_sent;
        next = history_.next_for(to, ++at);
        if (next != nullptr) continue;
      }
      m.payload_bytes = static_cast<std::uint32_t>(out.bytes().size());
      effects_.transmit(to, m, out.bytes());
      out.clear();
    }
  }
  history_.set_told(to, history_.end());
}

void node::forget(model::region_id region) {
  history_.forget_region(region);
  const auto drop = [region](auto& list) { std::erase_if(list, [region](const written_unit& w) { return w.region == region; }); };
  drop(open_.written);
  drop(open_.came);
  drop(open_.merged);
  std::erase_if(open_.lone, [region](const lone_unit& l) { return l.what.region == region; });
  drop(closed_);
  drop(leaving_);
  std::erase_if(open_.kept, [region](const kept_unit& k) { return k.what.region == region; });
  open_.newest.forget(region);
  relieved_ = 0;
}

// ---- Acquires ----

bool node::on_notices(node_id from, std::span<const std::byte> bytes) {
  notice_reader in(bytes);
  for (notice n; in.next(n);) {
    if (n.writer.value() >= nodes_ || n.home.value() >= nodes_) return false;
    if (n.life != effects_.life_of(n.region)) {
      if (!n.last) continue;
      n.region = {};
      n.count = n.moves = 0;
    }
    n.life = 0;
    if (history_.learn(n, from)) ++count_.notices_heard;
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
    machine* const m = n.writer == self_ || n.count == 0 ? nullptr : machine_of(n.region);
    if (m == nullptr) continue;
    (n.moves != 0 ? moved : written) = true;
    for (std::uint64_t unit = n.first; n.moves == 0 && unit < end_in(*m, n); ++unit) {
      actions_.clear();
      m->copies().on_notice(unit, n.writer, n.interval, actions_);
      if (actions_.size() != 0) effects_.perform(n.region, actions_);
    }
  }
  effects_.perform_all();
  if (moved && !busy()) learn_moves(first);  // diffs of the copies that have just gone count, too
  if (written || moved) ++count_.acquires;
  history_.set_applied(history_.end());
}

/// A request must not overtake a diff (I9): none is on its way.
void node::learn_moves(history::position at) {
  for (at = std::max(at, history_.begin()); at < history_.end(); ++at) {
    const notice& n = history_[at];
    machine* const m = n.writer == self_ || n.moves == 0 ? nullptr : machine_of(n.region);
    if (m == nullptr) continue;
    for (std::uint64_t unit = n.first; unit < end_in(*m, n); ++unit) m->homes().on_moved(unit, n.home, n.moves);
  }
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
    move_homes();
    // What was told upwards in the round before has reached every node by the end of that round, and every node had
    // ended that round when it entered this one (I11).
    history_.forget(group.settled);
  } else {
    group.gathered = group.settled = history_.begin();
    group.packed = history_.packed();
  }
  epoch_ = history_.end();
}

/// A unit that one node alone wrote in the epoch gets its home there, if its home is here. Not while a diff of this node is on its way: it may
/// have been sent before the home came here, and must find it here (I10).
void node::move_homes() {
  if (busy() || !closed_.empty() || !leaving_.empty()) return;
  open_.content_leaves = effects_.content_leaves();
  constexpr std::uint32_t many = model::max_nodes;
  writers_.clear();
  for (history::position at = std::max(epoch_, history_.begin()); at < history_.end(); ++at) {
    const notice& n = history_[at];
    const machine* const m = machine_of(n.region);
    if (n.moves != 0 || m == nullptr) continue;
    for (std::uint64_t unit = n.first; unit < end_in(*m, n); ++unit) {
      if (m->is_home(unit)) writers_.push_back({{n.region, unit}, n.writer.value()});
    }
  }
  std::sort(writers_.begin(), writers_.end(), [](const writer_of& a, const writer_of& b) { return a.what < b.what; });
  for (std::size_t i = 0; i < writers_.size();) {
    const written_unit w = writers_[i].what;
    std::uint32_t only = writers_[i].writer;
    for (; i < writers_.size() && writers_[i].what == w; ++i) {
      if (writers_[i].writer != only) only = many;
    }
    if (only == many || only == self_.value()) continue;
    machine& m = *machine_of(w.region);
    if (m.kept().is_kept(w.unit)) {
      const auto kept = std::ranges::find(open_.kept, w, &kept_unit::what);
      if (kept != open_.kept.end() && kept->idle < 2) continue;  // it writes nearly always, too
      stop_keeping(m, w);
    }
    actions_.clear();
    m.homes().on_only_writer(w.unit, node_id{static_cast<std::uint16_t>(only)}, actions_);
    if (actions_.size() != 0) effects_.perform(w.region, actions_);
  }
  effects_.perform_all();
}

}  // namespace quire::release
