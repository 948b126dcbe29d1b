// SPDX-License-Identifier: BSD-3-Clause
// What this node does as the home of units: requests, diffs, atomic operations; and how homes move, to here and from
// here.
#pragma once

#include <cstdint>

#include "protocol/release/copies.hpp"
#include "protocol/release/grants.hpp"
#include "protocol/release/migratory.hpp"
#include "protocol/release/rights.hpp"
#include "protocol/release/unit_table.hpp"
#include "protocol/release/update.hpp"

namespace quire::release {

/// What is to be done with a diff that has arrived.
enum class diff_outcome : std::uint8_t {
  apply,    ///< this is the home: write it into the content, and acknowledge
  collect,  ///< this is the home, and a parallel block is to be checked: keep it for the end, and acknowledge
  own,      ///< it is this node's own, which has become the home meanwhile: acknowledge, its content has it
  forward,  ///< the home has moved on, or a diff before this one has not come back from where it was: to
            ///< unit_table::way_of(unit)
};

class homes {
 public:
  homes(unit_table& table, rights& of, home_updates& sent, copies& own, grants& pinned,
        migratory_units& handed) noexcept
      : table_(table), rights_(of), updates_(sent), copies_(own), grants_(pinned), migratory_(handed) {}

  void on_copy_request(const message& m, actions& out);
  void reply_with_copy(const message& m, unit_state& s, actions& out);
  /// A diff of another node is about to change the unit. Where writes are traced, what threads here have written is
  /// told first: afterwards nobody could tell their bytes from those of the diff.
  void on_diff_ahead(std::uint64_t unit, actions& out);
  /// A node that wrote `unit` has sent its diff here, or a part of it; `writer` made it, and who sent it knew of
  /// `moves` moves of the home. `begins`: the first part of an interval.
  [[nodiscard]] diff_outcome on_diff(std::uint64_t unit, node_id writer, std::uint16_t moves, bool begins);

  /// A thread of this node calls for an operation, wherever the home is.
  void on_atomic(const message& call, actions& out);
  void on_atomic_reply(const message& m, actions& out);
  void on_home_atomic(const message& m, actions& out);
  void operate_for(const message& m, unit_state& s, actions& out);
  /// An operation of `operate` or `operate_here` has changed the content: called before its reply is sent, or its call
  /// ends.
  void on_operated(std::uint64_t unit);

  /// In the barrier epoch that has just ended, only `writer` wrote `unit`: its home moves there, is offered to it, or
  /// stays.
  void on_only_writer(std::uint64_t unit, node_id writer, actions& out);
  void on_home_offer(const message& m, actions& out);
  void ask_for_home(std::uint64_t unit, unit_state& s, actions& out);
  void on_home_move(const message& m, actions& out);
  /// News that the home of `unit` moved, for the `moves`th time, to `home`. Only while no diff of this node is on its
  /// way: a request must not overtake the diff that it is to see.
  void on_moved(std::uint64_t unit, node_id home, std::uint16_t moves);

 private:
  void reply_with_frame(const message& m, unit_state& s, actions& out);
  void move_home(std::uint64_t unit, unit_state& s, node_id to, std::uint8_t how, actions& out);
  [[nodiscard]] bool may_give(const message& m, unit_state& s) noexcept;
  void count_streak(std::uint64_t unit, unit_state& s, node_id writer, bool again);

  unit_table& table_;
  rights& rights_;
  home_updates& updates_;
  copies& copies_;
  grants& grants_;
  migratory_units& migratory_;
};

}  // namespace quire::release
