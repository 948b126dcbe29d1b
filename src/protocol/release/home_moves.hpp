// SPDX-License-Identifier: BSD-3-Clause
// Homes that move, as far as all regions of a node have to do with it: which go to who alone writes their units, and
// how others hear of it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/fault_heap.hpp"
#include "protocol/release/history.hpp"
#include "protocol/release/kept_watch.hpp"
#include "protocol/release/node_state.hpp"

namespace quire::release {

/// The part of a notice that the region has: what came from elsewhere may say anything.
[[nodiscard]] inline std::uint64_t end_in(const machine& m, const notice& n) noexcept {
  return n.first < m.units() ? n.first + std::min<std::uint64_t>(n.count, m.units() - n.first) : n.first;
}

class home_moves {
 public:
  home_moves(node_state& state, history& known, kept_watch& kept) noexcept
      : state_(state), history_(known), kept_(kept) {}
  /// A task. `at_rest`: no diff of this node is on its way, and all that it wrote is told.
  void begin_lone(bool at_rest) { state_.agenda.push(task::kind::give_lone).flag = at_rest; }
  /// A task, at the end of an epoch that began there. Only at rest.
  void begin_at_epoch(history::position epoch) { state_.agenda.push(task::kind::give_at_epoch).at = epoch; }
  void announce();
  /// From what is known from there on.
  void learn(history::position at);

  // The tasks go on.
  void give_lone_on(task& t);
  void give_at_epoch_on(task& t);

 private:
  struct writer_of {
    written_unit what;
    std::uint32_t writer;
  };
  void find_writers(history::position epoch);
  void give_next(task& t);
  void give(const written_unit& w, node_id only);

  node_state& state_;
  history& history_;
  kept_watch& kept_;
  base::fault_vector<writer_of> writers_{};
};

}  // namespace quire::release
