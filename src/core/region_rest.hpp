// SPDX-License-Identifier: BSD-3-Clause
// What nodes tell each other of a region that is about to go: the keeper of regions asks, the remover answers.
#pragma once

#include <cstdint>

namespace quire::core {

/// Why a region stays.
enum class stays : std::uint64_t { no, unknown, pinned, in_block, changes };

/// What a node says of a region that is about to go.
struct region_rest {
  std::uint64_t sent = 0, received = 0;  ///< units in messages; see change_state
  std::uint64_t dead = 0;                ///< nodes, as far as it knows: what it counts begins anew with each
  bool quiet = false;                    ///< it waits for nothing, and will tell nothing by itself
};

}  // namespace quire::core
