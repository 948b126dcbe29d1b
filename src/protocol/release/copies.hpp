// SPDX-License-Identifier: BSD-3-Clause
// The copies of this node: how they come, and how notices take them away; the faults and hints of its threads; the end
// of its intervals.
#pragma once

#include <cstdint>

#include "protocol/release/kept.hpp"
#include "protocol/release/rights.hpp"
#include "protocol/release/unit_table.hpp"
#include "protocol/release/update.hpp"

namespace quire::release {

class copies {
 public:
  copies(unit_table& table, rights& of, kept_units& kept) noexcept : table_(table), rights_(of), kept_(kept) {}

  fault_outcome on_fault(std::uint64_t unit, access want, actions& out);
  bool on_read_ahead(std::uint64_t unit, bool withhold, actions& out);
  bool on_hint(std::uint64_t unit, access want, actions& out);
  bool on_fault_around(std::uint64_t unit, actions& out);
  void on_copy_reply(const message& m, actions& out);
  /// An acquire has brought the news that `writer` wrote `unit` in one of its intervals, which this node has heard from
  /// `teller`: a copy here that does not have it goes, what was changed in it to the home first.
  void on_notice(std::uint64_t unit, node_id writer, std::uint32_t interval, node_id teller, actions& out);
  /// This node's interval ends, in which `unit` was written: what was changed goes to the home.
  void on_release(std::uint64_t unit, actions& out);
  /// Twins are short: what was changed so far goes to the home. The unit stays written in the open interval.
  void on_twins_short(std::uint64_t unit, actions& out);

  void ask(std::uint64_t unit, unit_state& s, access want, actions& out, std::uint8_t flags = 0);
  /// The content is here, for which threads wait.
  void arrived(std::uint64_t unit, unit_state& s, actions& out);
  void take_copy(std::uint64_t unit, unit_state& s, actions& out);
  void note_unused(unit_state& s) noexcept;
  /// Content has come from the home `from`: whether it may be older than notices that came while it was waited for.
  /// Asked once.
  [[nodiscard]] static bool is_stale(unit_state& s, node_id from) noexcept;

 private:
  static void note_news(unit_state& s, node_id teller) noexcept;

  unit_table& table_;
  rights& rights_;
  kept_units& kept_;
};

}  // namespace quire::release
