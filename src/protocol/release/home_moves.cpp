// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/home_moves.hpp"

#include <algorithm>

namespace quire::release {

/// Between barriers, too, a home goes to who alone writes the unit. As in give_at_epoch_on(); another diff comes where
/// this is not the time.
void home_moves::give_lone_on(task& t) {
  enum : std::uint8_t { looking, giving, gave };
  auto& lone = state_.open.lone;
  switch (t.step) {
    case looking:
      t.step = t.flag ? giving : gave;
      return t.flag ? state_.look_at_sends() : void();
    case giving: {
      if (t.at == lone.size()) {
        t.step = gave;
        return state_.perform_all();
      }
      const lone_unit l = lone[t.at++];
      machine* const m = state_.machine_of(l.what.region);
      return m == nullptr || m->kept().is_kept(l.what.unit) ? void() : give(l.what, l.writer);
    }
    case gave:
      lone.clear();
      return state_.agenda.pop();
    default:
      CHECK(!"a step of homes that go between epochs");
  }
}

/// A unit that one node alone wrote in the epoch gets its home there, if its home is here. Not while a diff of this
/// node is on its way: it may have been sent before the home came here, and must find it here (I10).
void home_moves::give_at_epoch_on(task& t) {
  enum : std::uint8_t { looking, finding, giving, not_kept };
  switch (t.step) {
    case looking:
      t.step = finding;
      return state_.look_at_sends();
    case finding:
      find_writers(t.at);
      t.at = 0;
      t.step = giving;
      return;
    case giving:
      if (t.at < writers_.size()) return give_next(t);
      state_.agenda.pop();
      return state_.perform_all();
    case not_kept:
      t.step = giving;
      return give(t.unit, t.to);
    default:
      CHECK(!"a step of homes that go at the end of an epoch");
  }
}

void home_moves::find_writers(history::position epoch) {
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
}

/// Of the next unit; of one that is kept, when its right has ended.
void home_moves::give_next(task& t) {
  constexpr std::uint32_t many = model::max_nodes;
  const written_unit w = writers_[t.at].what;
  std::uint32_t only = writers_[t.at].writer;
  for (; t.at < writers_.size() && writers_[t.at].what == w; ++t.at) {
    if (writers_[t.at].writer != only) only = many;
  }
  if (only == many || only == state_.self.value()) return;
  t.unit = w;
  t.to = node_id{static_cast<std::uint16_t>(only)};
  if (!state_.machine_of(w.region)->kept().is_kept(w.unit)) return give(w, t.to);
  const auto kept = std::ranges::find(state_.open.kept, w, &kept_unit::what);
  if (kept != state_.open.kept.end() && kept->idle < 2) return;  // it writes nearly always, too
  ++t.step;
  kept_.begin_end(w);
}

void home_moves::give(const written_unit& w, node_id only) {
  state_.step.clear();
  state_.machine_of(w.region)->homes().on_only_writer(w.unit, only, state_.step);
  if (state_.step.size() != 0) state_.perform(w.region);
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
  if (history_.known(state_.self) != state_.open.told) state_.tell_interval(history_.known(state_.self), 0);
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
