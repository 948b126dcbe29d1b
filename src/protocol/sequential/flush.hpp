// SPDX-License-Identifier: BSD-3-Clause
// Units that a store keeps (flush.cpp). The manager knows which of them the store may have older, as it grants each
// right to write.
#pragma once

#include <cstdint>

#include "protocol/sequential/node.hpp"
#include "protocol/sequential/unit_table.hpp"

namespace quire::sequential {

class flushes final : public model::storing {
 public:
  flushes(unit_table& table, node_side& node) noexcept : table_(table), node_(node) {}

  [[nodiscard]] model::flush_outcome on_flush(std::uint64_t unit, actions& out) override;
  void on_flushed(std::uint64_t unit, bool well, actions& out) override;
  void on_unsynced(std::uint64_t unit) override;
  void on_leave(std::uint64_t unit, model::leave how, actions& out) override;
  [[nodiscard]] bool on_unfilled(const message& m, int error, actions& out) override;
  [[nodiscard]] bool is_clean(std::uint64_t unit) const noexcept override;

  void on_unit_refused(const message& m, actions& out);
  /// Between two requests for the unit: begins the flush that is wanted, or sees to it that one will begin.
  void begin(std::uint64_t unit, directory_entry& e, actions& out);
  /// The same of what is to leave memory.
  void leave(std::uint64_t unit, directory_entry& e, actions& out);
  /// Survivors: nobody alive has a right to the unit, and the store of this node has it. It begins there again, when no
  /// flush is under way any more.
  void begin_again(std::uint64_t unit, directory_entry& e, actions& out);
  [[nodiscard]] bool is_valid(std::uint64_t unit) const noexcept;

 private:
  void end_leave(std::uint64_t unit, directory_entry& e, model::leave_end end, actions& out);
  unit_table& table_;
  node_side& node_;
};

}  // namespace quire::sequential
