// SPDX-License-Identifier: BSD-3-Clause
// Which node manages a unit: fixed, known everywhere without a message (KOAN, section 4.3.2: Modulo and Block).
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

  /// `together`: of how many neighbours, from unit 0 on, one node is to manage all.
  static constexpr manager_map make(model::placement kind, unsigned nodes, std::uint64_t units, model::node_id fixed,
                                    unsigned together = 1) {
    const std::uint64_t groups = units / together;
    return {kind, static_cast<std::uint16_t>(nodes), fixed,
            (groups < nodes ? 1 : (groups + nodes - 1) / nodes) * together, together};
  }
  [[nodiscard]] constexpr model::node_id of(std::uint64_t unit) const noexcept {
    switch (kind) {
      case model::placement::block:
        return model::node_id{static_cast<std::uint16_t>(unit / block_units)};
      case model::placement::modulo:
        return model::node_id{static_cast<std::uint16_t>(unit / together % nodes)};
      case model::placement::node:
        break;
    }
    return fixed;
  }
};

}  // namespace quire::directory
