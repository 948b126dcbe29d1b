// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace quire::core {

struct region_slot;

/// Units that a node keeps and whose content may differ from zero, while they are held.
struct kept_run {
  region_slot* region = nullptr;
  std::uint64_t first = 0, count = 0;
  bool in_memory = true;  ///< else in the region's store
};

}  // namespace quire::core
