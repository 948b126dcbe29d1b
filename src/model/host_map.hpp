// SPDX-License-Identifier: BSD-3-Clause
// Which nodes have the frames of a region together: those of one host map the same memory (core/host_frames.hpp), so
// that what one of them has in a frame the others have, too, as soon as they may look.
#pragma once

#include <cstdint>

#include "model/copyset.hpp"
#include "model/ids.hpp"

namespace quire::model {

struct host_map {
  /// [node]: the first of the nodes that it shares frames with, itself perhaps. Null: each has frames of its own.
  const std::uint16_t* first = nullptr;

  [[nodiscard]] bool any() const noexcept { return first != nullptr; }
  /// Two nodes, or one and itself, have frames together.
  [[nodiscard]] bool together(node_id a, node_id b) const noexcept {
    return first != nullptr && first[a.value()] == first[b.value()];
  }
  /// A node of these that has frames together with `node` and is another one; `node` if there is none.
  [[nodiscard]] node_id neighbour(const copyset& among, geometry g, node_id node) const noexcept {
    node_id found = node;
    if (first == nullptr) return found;
    among.for_each(g, node, node, [&](node_id n) {
      if (found == node && together(n, node)) found = n;
    });
    return found;
  }
};

}  // namespace quire::model
