// SPDX-License-Identifier: BSD-3-Clause
// The region's consistency changes (change.cpp). No message about any of its units is on its way, nothing is pinned.
#pragma once

#include <cstdint>

#include "protocol/sequential/replica_marks.hpp"
#include "protocol/sequential/unit_table.hpp"

namespace quire::sequential {

class handovers final : public model::succession {
 public:
  handovers(unit_table& table, replica_marks& marks) noexcept : table_(table), marks_(marks) {}

  [[nodiscard]] model::handover give(std::uint64_t unit, actions& out) override;
  /// An owner's manager hears of it.
  void take(std::uint64_t unit, const model::handover& h, actions& out) override;
  /// Who has a unit of one memory beside others has a copy of it from now on, to be read; nothing is mapped.
  void make_copies(std::uint64_t unit);
  void all_given() noexcept override { table_.used.clear(); }
  void on_owner_here(const message& m);

 private:
  unit_table& table_;
  replica_marks& marks_;
};

}  // namespace quire::sequential
