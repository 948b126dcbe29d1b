// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/home_moves.hpp"

#include <algorithm>

namespace quire::release {

/// Between barriers, too, a home goes to who alone writes the unit. As in give_at_epoch(); another diff comes where
/// this is not the time.
void home_moves::give_lone(bool at_rest) {
  if (at_rest) {
    state_.open.content_leaves = state_.effects.content_leaves();
    for (const lone_unit& l : state_.open.lone) {
      machine* const m = state_.machine_of(l.what.region);
      if (m == nullptr || m->kept().is_kept(l.what.unit)) continue;
      state_.step.clear();
      m->homes().on_only_writer(l.what.unit, l.writer, state_.step);
      if (state_.step.size() != 0) state_.effects.perform(l.what.region, state_.step);
    }
    state_.effects.perform_all();
  }
  state_.open.lone.clear();
}

/// A unit that one node alone wrote in the epoch gets its home there, if its home is here. Not while a diff of this
/// node is on its way: it may have been sent before the home came here, and must find it here (I10).
void home_moves::give_at_epoch(history::position epoch) {
  state_.open.content_leaves = state_.effects.content_leaves();
  constexpr std::uint32_t many = model::max_nodes;
  writers_.clear();
  for (history::position at = std::max(epoch, history_.begin()); at < history_.end(); ++at) {
    const notice& n = history_[at];
    const machine* const m = state_.machine_of(n.region);
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
    if (only == many || only == state_.self.value()) continue;
    machine& m = *state_.machine_of(w.region);
    if (m.kept().is_kept(w.unit)) {
      const auto kept = std::ranges::find(state_.open.kept, w, &kept_unit::what);
      if (kept != state_.open.kept.end() && kept->idle < 2) continue;  // it writes nearly always, too
      kept_.stop(m, w);
    }
    state_.step.clear();
    m.homes().on_only_writer(w.unit, node_id{static_cast<std::uint16_t>(only)}, state_.step);
    if (state_.step.size() != 0) state_.effects.perform(w.region, state_.step);
  }
  state_.effects.perform_all();
}

/// The new home says that it is one, and not before: a node that heard of it earlier would send it messages that it
/// could only send back (I9).
void home_moves::announce() {
  if (state_.open.came.empty()) return;
  std::sort(state_.open.came.begin(), state_.open.came.end());
  for (const written_unit& w : state_.open.came) {
    const machine* const m = state_.machine_of(w.region);
    if (m != nullptr && m->is_home(w.unit)) history_.add_move(w.region, w.unit, state_.self, m->unit(w.unit).moves);
  }
  state_.open.came.clear();
  history_.end_moves();
  if (history_.known(state_.self) != state_.open.told) state_.effects.on_interval(history_.known(state_.self), 0);
  state_.open.told = history_.known(state_.self);
}

/// A request must not overtake a diff (I9): none is on its way.
void home_moves::learn(history::position at) {
  for (at = std::max(at, history_.begin()); at < history_.end(); ++at) {
    const notice& n = history_[at];
    machine* const m = n.writer == state_.self || n.moves == 0 ? nullptr : state_.machine_of(n.region);
    if (m == nullptr) continue;
    for (std::uint64_t unit = n.first; unit < end_in(*m, n); ++unit) m->homes().on_moved(unit, n.home, n.moves);
  }
}

}  // namespace quire::release
