// SPDX-License-Identifier: BSD-3-Clause
// What a home sends unasked: whole units and patches, to readers and to a partner; and what a copy takes of it
// (update.cpp).
#pragma once

#include <cstdint>

#include "protocol/release/kept.hpp"
#include "protocol/release/unit_table.hpp"

namespace quire::release {

/// What is to be done with content that a home has sent unasked.
enum class update_outcome : std::uint8_t {
  drop,
  replace,  ///< it is the content of the copy now
  merge,    ///< what differs from the copy's twin was written by others: into the copy, and the twin
};

class home_updates {
 public:
  home_updates(unit_table& table, rights& of, kept_units& kept) noexcept : table_(table), rights_(of), kept_(kept) {}

  /// The notice that this node wrote `unit` in `interval` is about to be told: those who will read it get it now.
  void on_told(std::uint64_t unit, std::uint32_t interval, actions& out);
  /// The diffs that came with `unit` of interval::merged are in the content, and acknowledged: its partner gets it now.
  void on_merged(std::uint64_t unit, actions& out);
  /// The home has sent what it wrote. What is to be done with the content that came with it.
  [[nodiscard]] update_outcome on_update(const message& m, actions& out);
  /// The same, of what it changed between two of its intervals, as a diff. True if that is to be written into the copy
  /// here, and into its twin if it has one.
  [[nodiscard]] bool on_patch(const message& m, actions& out);
  void on_update_unused(const message& m);

  void note_reader(unit_state& s, node_id reader) const noexcept;
  void note_writer(std::uint64_t unit, unit_state& s, node_id writer);
  void note_fetch(unit_state& s, node_id reader) const noexcept;
  static void end_partnership(unit_state& s) noexcept;
  [[nodiscard]] static bool follows_home(const unit_state& s) noexcept;

 private:
  [[nodiscard]] model::copyset take_readers(unit_state& s, std::uint8_t& flags) const noexcept;
  [[nodiscard]] bool is_looked_at(const message& m, unit_state& s, actions& out);
  void send_update(std::uint64_t unit, unit_state& s, model::copyset to, std::uint32_t interval, std::uint8_t flags,
                   actions& out);
  void send_patch(std::uint64_t unit, unit_state& s, model::copyset to, std::uint32_t interval, std::uint8_t flags,
                  actions& out);
  void offer(model::action& a, model::message_kind kind, model::copyset to, std::uint32_t interval, std::uint8_t flags);

  unit_table& table_;
  rights& rights_;
  kept_units& kept_;
};

}  // namespace quire::release
