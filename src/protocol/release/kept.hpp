// SPDX-License-Identifier: BSD-3-Clause
// Units that keep their right to be written from interval to interval (kept.cpp). At each release the node asks which
// have been written.
#pragma once

#include <cstdint>

#include "protocol/release/rights.hpp"
#include "protocol/release/unit_table.hpp"

namespace quire::release {

class kept_units {
 public:
  kept_units(unit_table& table, rights& of) noexcept : table_(table), rights_(of) {}

  /// Such a unit is to give it up: from now on it is noticed whether it is written.
  void on_keep_ends(std::uint64_t unit, actions& out);
  /// And it is known (rights::on_written) whether it was written before that.
  void on_keep_over(std::uint64_t unit, actions& out);
  [[nodiscard]] bool is_kept(std::uint64_t unit) const noexcept {
    return unit < table_.shape.units && table_.units[unit].kept != 0;
  }

  [[nodiscard]] bool may_keep(const unit_state& s) const noexcept;
  void keep(std::uint64_t unit, unit_state& s);
  void keep_home(std::uint64_t unit, unit_state& s, std::uint32_t interval, actions& out);

 private:
  unit_table& table_;
  rights& rights_;
};

}  // namespace quire::release
