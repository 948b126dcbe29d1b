// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/kept_watch.hpp"

#include <algorithm>

namespace quire::release {

void kept_watch::begin_look(bool all_end) {
  if (state_.open.kept.empty()) return;
  std::erase_if(state_.open.kept, [this](const kept_unit& k) {
    machine* const m = state_.machine_of(k.what.region);
    return m == nullptr || !m->kept().is_kept(k.what.unit);
  });
  state_.agenda.push(task::kind::look_at_kept).flag = all_end;
}

void kept_watch::begin_end(const written_unit& w) { state_.agenda.push(task::kind::end_keeping).unit = w; }

/// Which units that keep their right have been written since the last release, and which have not been for long.
void kept_watch::look_on(task& t) {
  enum : std::uint8_t { ending, comparing, compared, looked };
  constexpr std::uint32_t most_idle = 8;
  auto& kept = state_.open.kept;
  const bool over = t.at == kept.size();
  switch (t.step) {
    case ending: {
      if (over) {
        t.step = comparing;
        t.at = 0;
        return state_.perform_all();  // what is compared next is not written any more
      }
      kept_unit& k = kept[t.at++];
      k.ends = t.flag || k.idle >= most_idle;
      if (!k.ends) return;
      state_.step.clear();
      state_.machine_of(k.what.region)->kept().on_keep_ends(k.what.unit, state_.step);
      return state_.perform(k.what.region);
    }
    case comparing: {
      if (over) {
        t.step = looked;
        return state_.perform_all();
      }
      const kept_unit& k = kept[t.at];
      if (!state_.machine_of(k.what.region)->kept().is_kept(k.what.unit)) {
        ++t.at;
        return;
      }
      t.step = compared;
      return state_.compare(k.what);
    }
    case compared: {
      kept_unit& k = kept[t.at++];
      machine& m = *state_.machine_of(k.what.region);
      t.step = comparing;
      if (state_.differs) m.rights().on_written(k.what.unit);
      k.idle = state_.differs ? 0 : k.idle + 1;
      return k.ends ? end(m, k.what) : void();
    }
    case looked:
      std::erase_if(kept, [](const kept_unit& k) { return k.ends; });
      return state_.agenda.pop();
    default:
      CHECK(!"a step of a look at kept units");
  }
}

/// The same of one unit, which ends.
void kept_watch::end_on(task& t) {
  enum : std::uint8_t { closing, closed, comparing, compared };
  const written_unit w = t.unit;
  machine& m = *state_.machine_of(w.region);
  switch (t.step++) {
    case closing:
      state_.step.clear();
      m.kept().on_keep_ends(w.unit, state_.step);
      return state_.perform(w.region);
    case closed:
      return state_.perform_all();
    case comparing:
      return state_.compare(w);
    case compared:
      state_.agenda.pop();
      if (state_.differs) m.rights().on_written(w.unit);
      return end(m, w);
    default:
      CHECK(!"a step of the end of a kept unit");
  }
}

void kept_watch::end(machine& m, const written_unit& w) {
  state_.step.clear();
  m.kept().on_keep_over(w.unit, state_.step);
  state_.perform(w.region);
}

}  // namespace quire::release
