// SPDX-License-Identifier: BSD-3-Clause
// Content on two nodes: what is to be remembered of units for that, and what waits until their content is safe. All
// does nothing where content is kept once. saving.hpp has the rounds.
#pragma once

#include <cstdint>

#include "protocol/sequential/unit_table.hpp"

namespace quire::sequential {

class replica_marks {
 public:
  explicit replica_marks(unit_table& table) noexcept : table_(table) {}

  void mark_unsaved(std::uint64_t unit) noexcept;
  void note_content(const message& m) noexcept;
  void note_backup(std::uint64_t unit, unsigned number) noexcept;
  void tell_backup(node_id requester, const directory_entry& e, message& grant) const noexcept;
  [[nodiscard]] bool is_backup(std::uint64_t unit, node_id to) const noexcept;
  [[nodiscard]] node_id choose_backup(const replica_state& r) const noexcept;
  [[nodiscard]] bool is_usable(unsigned number) const noexcept;
  void keep_replica(const message& m);

  [[nodiscard]] bool waits_for_round(const message& m);
  void wait_for_round(const message& call);
  [[nodiscard]] bool stalls(const message& m);

  /// The units of a round that has ended, one after the other.
  [[nodiscard]] bool take_saved(std::uint64_t& unit) noexcept;
  void cut_round(std::uint64_t unit) noexcept;
  [[nodiscard]] bool is_valid(std::uint64_t unit) const noexcept;

 private:
  void append(unit_chain& chain, std::uint64_t unit) noexcept;

  unit_table& table_;
};

}  // namespace quire::sequential
