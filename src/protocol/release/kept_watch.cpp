// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/kept_watch.hpp"

#include <algorithm>

namespace quire::release {

/// Which units that keep their right have been written since the last release, and which have not been for long.
void kept_watch::look(bool all_end) {
  if (state_.open.kept.empty()) return;
  std::erase_if(state_.open.kept, [this](const kept_unit& k) {
    machine* const m = state_.machine_of(k.what.region);
    return m == nullptr || !m->kept().is_kept(k.what.unit);
  });
  constexpr std::uint32_t most_idle = 8;
  for (kept_unit& k : state_.open.kept) {
    k.ends = all_end || k.idle >= most_idle;
    if (!k.ends) continue;
    state_.step.clear();
    state_.machine_of(k.what.region)->kept().on_keep_ends(k.what.unit, state_.step);
    state_.effects.perform(k.what.region, state_.step);
  }
  state_.effects.perform_all();  // what is compared next is not written any more
  for (kept_unit& k : state_.open.kept) {
    machine& m = *state_.machine_of(k.what.region);
    if (!m.kept().is_kept(k.what.unit)) continue;
    const bool written = state_.effects.differs(k.what.region, k.what.unit);
    if (written) m.rights().on_written(k.what.unit);
    k.idle = written ? 0 : k.idle + 1;
    if (!k.ends) continue;
    state_.step.clear();
    m.kept().on_keep_over(k.what.unit, state_.step);
    state_.effects.perform(k.what.region, state_.step);
  }
  state_.effects.perform_all();
  std::erase_if(state_.open.kept, [](const kept_unit& k) { return k.ends; });
}

/// The same of one unit, which ends.
void kept_watch::stop(machine& m, const written_unit& w) {
  state_.step.clear();
  m.kept().on_keep_ends(w.unit, state_.step);
  state_.effects.perform(w.region, state_.step);
  state_.effects.perform_all();
  if (state_.effects.differs(w.region, w.unit)) m.rights().on_written(w.unit);
  state_.step.clear();
  m.kept().on_keep_over(w.unit, state_.step);
  state_.effects.perform(w.region, state_.step);
}

}  // namespace quire::release
