// SPDX-License-Identifier: BSD-3-Clause
// Page-out (paging.cpp).
#pragma once

#include <cstdint>

#include "protocol/sequential/node.hpp"
#include "protocol/sequential/unit_table.hpp"

namespace quire::sequential {

class page_out final : public model::paging {
 public:
  page_out(unit_table& table, node_side& node) noexcept : table_(table), node_(node) {}

  [[nodiscard]] model::frame_use use_of_frame(std::uint64_t unit) const noexcept override;
  void on_drop_copy(std::uint64_t unit, actions& out) override;
  void on_unmap(std::uint64_t unit, actions& out) override;
  bool on_please_take(std::uint64_t unit, actions& out) override;
  void on_copy_dropped(const message& m);

 private:
  unit_table& table_;
  node_side& node_;
};

}  // namespace quire::sequential
