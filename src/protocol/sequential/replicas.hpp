// SPDX-License-Identifier: BSD-3-Clause
// What a node remembers where the content of every unit is kept on two nodes (replica_marks.hpp, saving.hpp): plain
// data, all zero at first. The tables of units belong to a region, the rounds to a node. Driver's thread only.
#pragma once

#include <cstdint>

#include "directory/request_queue.hpp"
#include "model/ids.hpp"

namespace quire::sequential {

/// Beside each unit_state.
struct replica_state {
  /// Of the content in this node's frame, and travels with it: later content of a unit has a higher stamp. 0: never
  /// written.
  std::uint64_t stamp = 0;
  directory::request_list
      orders{};             ///< that wait until the content is safe: of others one at most, and calls of this node
  std::uint32_t next = 0;   ///< in a unit_chain: number + 1
  std::uint8_t backup = 0;  ///< at the owner: the node that has the content too, as of the last round; + 1
  std::uint8_t wished = 0;  ///< at the owner: who asked for the content last, and may as well be the next backup; + 1
  std::uint8_t unsaved : 1 = 0;  ///< at the owner: threads may have written since the content was sent to a backup
  std::uint8_t saving : 1 = 0;   ///< sent in the round that is under way: nobody writes until it ends
  std::uint8_t stalled : 1 =
      0;  ///< at the manager, which is the owner: the first request waits until the content is safe
};
static_assert(sizeof(replica_state) == 24);

/// Units in the order in which they came, linked through replica_state::next.
struct unit_chain {
  std::uint32_t head = 0, tail = 0;  ///< number + 1
};

/// Of one machine.
struct replica_book {
  std::uint64_t clock = 0;  ///< no content here has a higher stamp; each round's is one more
  unit_chain unsaved{}, saving{};
  std::uint64_t unanswered = 0;  ///< of replica_rounds::unanswered, so many are this machine's
};

/// Rounds of one node, all its regions together: what is unsaved when a round begins is sent to backups, and nobody
/// here writes it before all of them have answered. So what a round makes safe is a consistent cut of what the node
/// wrote.
struct replica_rounds {
  std::uint64_t ended = 0;
  std::uint64_t asked = 0;       ///< so many must end, say tickets
  std::uint64_t unanswered = 0;  ///< units, of the round under way
  std::uint64_t unsaved = 0;     ///< units
  bool active = false;
  bool wanted = false;  ///< an order waits for a round that has not begun

  /// For a message that lets others know what threads here have done: it may leave when so many rounds have ended.
  [[nodiscard]] std::uint64_t ticket() noexcept {
    const std::uint64_t last = ended + (active ? 1 : 0) + (unsaved != 0 ? 1 : 0);
    if (last > asked) asked = last;
    return last;
  }
  /// A round is to begin. One that a death has cut off is followed by as many as tickets say.
  [[nodiscard]] bool due() const noexcept { return !active && (wanted || asked > ended); }
};

/// What a machine is given; units == nullptr: content is kept once.
struct replica_tables {
  replica_state* units = nullptr;
  replica_book* book = nullptr;
  replica_rounds* rounds = nullptr;
};

/// Ends the round under way if it can end, and begins the next if one is wanted. `machines(f)` calls f(rounds) for the
/// saving_rounds of all machines of the node, `perform(rounds, unit, step)` calls step(actions) and performs them,
/// `ended()` is called after each round.
template <class Machines, class Perform, class Ended>
void advance(replica_rounds& rounds, Machines&& machines, Perform&& perform, Ended&& ended) {
  for (;;) {
    if (rounds.active) {
      if (rounds.unanswered != 0) return;
      rounds.active = false;
      ++rounds.ended;
      machines([&](auto& m) {
        for (std::uint64_t unit = 0; m.take_saved(unit);) {
          perform(m, unit, [&](auto& out) { m.on_saved(unit, out); });
          while (m.has_order(unit)) perform(m, unit, [&](auto& out) { m.on_order(unit, out); });
          perform(m, unit, [&](auto& out) { m.on_safe(unit, out); });
        }
      });
      ended();
    }
    if (!rounds.due()) return;
    rounds.wanted = false;
    rounds.active = true;
    machines([&](auto& m) {
      m.begin_round();
      for (std::uint64_t unit = m.first_in_round(); unit < m.units(); unit = m.next_in_round(unit)) {
        perform(m, unit, [&](auto& out) { m.on_save(unit, out); });
      }
    });
  }
}

}  // namespace quire::sequential
