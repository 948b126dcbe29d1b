// SPDX-License-Identifier: BSD-3-Clause
// Page-out (paging.cpp).
#pragma once

#include <cstdint>

#include "protocol/release/homes.hpp"
#include "protocol/release/unit_table.hpp"

namespace quire::release {

class page_out final : public model::paging {
 public:
  page_out(unit_table& table, homes& of) noexcept : table_(table), homes_(of) {}

  [[nodiscard]] model::frame_use use_of_frame(std::uint64_t unit) const noexcept override;
  void on_drop_copy(std::uint64_t unit, actions& out) override;
  void on_unmap(std::uint64_t unit, actions& out) override;
  bool on_please_take(std::uint64_t unit, actions& out) override;

 private:
  unit_table& table_;
  homes& homes_;
};

}  // namespace quire::release
