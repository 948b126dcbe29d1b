// SPDX-License-Identifier: BSD-3-Clause
// The region's consistency changes (change.cpp). No message about any of its units is on its way, and there are no
// twins.
#pragma once

#include <cstdint>

#include "protocol/release/unit_table.hpp"

namespace quire::release {

class handovers final : public model::succession {
 public:
  explicit handovers(unit_table& table) noexcept : table_(table) {}

  /// Homes stay where they are, or may move again.
  void stay(bool keep) noexcept override { table_.homes_stay = keep; }
  /// Copies that are no home's go.
  [[nodiscard]] model::handover give(std::uint64_t unit, actions& out) override;
  /// Who is to be the home hears of it from the unit's manager.
  void take(std::uint64_t unit, const model::handover& h, actions& out) override;
  void all_given() noexcept override { table_.used.clear(); }

 private:
  unit_table& table_;
};

}  // namespace quire::release
