// SPDX-License-Identifier: BSD-3-Clause
// Push and page broadcasting (KOAN; broadcast.cpp).
#pragma once

#include <cstdint>

#include "protocol/release/rights.hpp"
#include "protocol/release/unit_table.hpp"

namespace quire::release {

class broadcasts final : public model::broadcasting {
 public:
  broadcasts(unit_table& table, rights& of) noexcept : table_(table), rights_(of) {}

  /// A release has just ended the open interval.
  void on_produce_begin(std::uint64_t unit, actions& out) override;
  /// After a release.
  [[nodiscard]] bool on_produce_end(std::uint64_t unit) override;
  void on_push(std::uint64_t unit, std::uint64_t token, actions& out) override;
  void on_spread_request(const message& m, actions& out);
  /// Whether content that comes unasked may be used.
  [[nodiscard]] bool awaits_spread(std::uint64_t unit) const noexcept {
    const unit_state& s = table_.units[unit];
    const bool waits = s.pending() != access::none || s.asked != 0 || s.pin_data != 0;
    return !table_.is_home(unit) && s.valid == 0 && s.version != given_away && !waits && !table_.checked;
  }
  /// It is in its place. `zero`: it was never written.
  void on_spread_copy(std::uint64_t unit, bool zero, actions& out);

 private:
  unit_table& table_;
  rights& rights_;
};

}  // namespace quire::release
