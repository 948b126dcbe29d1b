// SPDX-License-Identifier: BSD-3-Clause
// Which node manages a unit: fixed, known everywhere without a message (KOAN, section 4.3.2: Modulo and Block). What
// would be for a node that is not there at the start of the job goes round those that are.
#pragma once

#include <cstdint>

#include "model/ids.hpp"

namespace quire::directory {

/// The manager function of one region.
struct manager_map {
  model::placement kind = model::placement::block;
  std::uint16_t nodes = 1;
  model::node_id fixed{};         ///< for placement::node
  std::uint64_t block_units = 1;  ///< for placement::block: units a node manages
  unsigned together = 1;          ///< neighbours that one node manages
  std::uint16_t founders = 1;     ///< of `nodes`: those that are there at the start

  /// `together`: of how many neighbours, from unit 0 on, one node is to manage all. `founders`: 0: all nodes.
  static constexpr manager_map make(model::placement kind, unsigned nodes, std::uint64_t units, model::node_id fixed,
                                    unsigned together = 1, unsigned founders = 0) {
    const std::uint64_t groups = units / together;
    return {kind,     static_cast<std::uint16_t>(nodes),
            fixed,    (groups < nodes ? 1 : (groups + nodes - 1) / nodes) * together,
            together, static_cast<std::uint16_t>(founders == 0 ? nodes : founders)};
  }
  [[nodiscard]] constexpr model::node_id of(std::uint64_t unit) const noexcept {
    switch (kind) {
      case model::placement::block:
        return founder(unit / block_units);
      case model::placement::modulo:
        return founder(unit / together % nodes);
      case model::placement::node:
        break;
    }
    return fixed;
  }

 private:
  [[nodiscard]] constexpr model::node_id founder(std::uint64_t node) const noexcept {
    return model::node_id{static_cast<std::uint16_t>(node < founders ? node : node % founders)};
  }
};

}  // namespace quire::directory
