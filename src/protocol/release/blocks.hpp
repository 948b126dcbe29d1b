// SPDX-License-Identifier: BSD-3-Clause
// Parallel blocks (blocks.cpp). In those that are checked (KOAN) the home keeps each unit as it was before (its twin),
// from its own first write on, and shows others nothing else; no copy is taken away before the end.
#pragma once

#include <cstdint>

#include "protocol/release/copies.hpp"
#include "protocol/release/rights.hpp"
#include "protocol/release/unit_table.hpp"

namespace quire::release {

class blocks {
 public:
  blocks(unit_table& table, rights& of, copies& own) noexcept : table_(table), rights_(of), copies_(own) {}

  void check(bool checked) noexcept { table_.checked = checked; }
  /// A checked block is about to begin. Where writes are found by scans they end here, until threads may fault again:
  /// the last of them could come to a home that keeps them apart already, and shows their own writer what was before.
  void on_block_ahead(std::uint64_t unit, actions& out);
  /// A block begins under this protocol, which is in charge before it already, and all that was written is at the
  /// homes.
  void on_block_begin(std::uint64_t unit, actions& out);
  /// The block is about to end: from now on a write here is one after it.
  void on_block_end(std::uint64_t unit, actions& out);
  /// In a block that is checked: whether this is the home, and has written `unit`: then its twin is as it was before.
  [[nodiscard]] bool has_base(std::uint64_t unit) const noexcept {
    return table_.units[unit].is_home != 0 && table_.units[unit].twin != 0;
  }
  /// In any block: which bytes of `unit` this node writes is known beforehand, and sent as they are. Too late for what
  /// it has written already.
  void on_declared(std::uint64_t unit);
  [[nodiscard]] bool is_declared(std::uint64_t unit) const noexcept { return table_.units[unit].declared != 0; }
  /// It is needed no longer.
  void on_base_dropped(std::uint64_t unit);
  /// The block is over, the content at the home is that of all, and this protocol stays in charge.
  void on_block_over(std::uint64_t unit, actions& out);

 private:
  unit_table& table_;
  rights& rights_;
  copies& copies_;
};

}  // namespace quire::release
