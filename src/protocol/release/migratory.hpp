// SPDX-License-Identifier: BSD-3-Clause
// Migratory units: one node writes them for a while, then another one. Where the home goes to the only writer of each
// epoch, and that is another node each time, the unit's content follows later as a diff, page by page: a fault, a twin,
// a comparison, a message, an acknowledgement, and the home's move. Instead whoever asks for such a unit next gets the
// home with the content, and writes it without a twin and without telling anybody, as nobody else has a copy. After Cox
// and Fowler, "Adaptive Cache Coherency for Detecting Migratory Shared Data" (ISCA 1993), for homes.
//
// It is learned: a home counts moves to only writers in a row, and what it has counted goes along. One says nothing: it
// is also what the first writer of a unit is, which others read from then on. Whether who got a home that way writes is
// looked at the first times, and now and then later. The first unit of a neighbourhood is looked at for the others,
// where it is here and no guess about it was wrong. It was the wrong guess if it does not, or if another node asks
// before this one has released: then who asks gets copies again, and twice as many moves are needed the next time. So
// threads that use a unit at the same time never take it from each other in vain: whoever asks twice in an interval
// gets a copy, which nobody takes away.
#pragma once

#include <cstdint>

#include "protocol/release/unit_table.hpp"

namespace quire::release {

class migratory_units {
 public:
  explicit migratory_units(unit_table& table) noexcept : table_(table) {}

  /// At the home, which may leave: the unit is asked for by who might write it next. Whether the home goes along.
  [[nodiscard]] bool goes_along(unit_state& s) noexcept;
  /// At the home, which goes to the only writer of an epoch. Whether the copy here ends with it, so that this node asks
  /// when it needs the unit. Not where others have read it since the home came.
  [[nodiscard]] bool ends_copy(unit_state& s, model::node_id to) noexcept;
  /// At the home: another node was the only writer of an epoch, and its copy may not be as good as the content. Whether
  /// the home waits until that node asks for the unit: the first time, where nobody else reads it.
  [[nodiscard]] bool waits_for_request(unit_state& s, model::node_id writer) noexcept;
  /// At the home: all nodes get copies, and will read them.
  static void note_push(unit_state& s) noexcept;
  /// What the next home is to know: message::c of home_move.
  [[nodiscard]] static std::uint64_t told(const unit_state& s, bool alone) noexcept;
  /// The home has come here.
  void came(unit_state& s, const message& m) noexcept;
  /// No other node has a copy.
  [[nodiscard]] static bool is_alone(const message& m) noexcept { return (m.c & alone_bit) != 0; }
  /// Threads here write it.
  static void note_write(unit_state& s) noexcept;
  /// The next write is to be noticed.
  [[nodiscard]] static bool is_unproven(const unit_state& s) noexcept;

 private:
  static constexpr std::uint64_t alone_bit = 1 << 16;
  /// What a home knows of its unit, in unit_state::version.
  struct habit {
    std::uint8_t row = 0;       ///< moves to a writer in a row
    std::uint8_t distrust = 0;  ///< wrong guesses
    bool unproven = false;      ///< the home came to who asked for the content, and nobody here has written since
    std::uint16_t since = 0;    ///< interval::releases when it came
  };
  [[nodiscard]] static habit of(const unit_state& s) noexcept;
  habit count_writer(unit_state& s, model::node_id writer) noexcept;
  static void set(unit_state& s, habit h) noexcept;
  [[nodiscard]] bool is_migratory(const habit& h) const noexcept;
  /// The first unit of its neighbourhood is here and migratory: it need not be looked at itself.
  [[nodiscard]] bool is_spoken_for(std::uint64_t unit, const habit& h) const noexcept;

  unit_table& table_;
};

}  // namespace quire::release
