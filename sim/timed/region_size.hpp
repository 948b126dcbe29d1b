// SPDX-License-Identifier: BSD-3-Clause
// The shared memory of a job of the model.
#pragma once

#include <cstdint>

namespace quire::timed {

inline constexpr std::uint64_t page_bytes = 4096;

/// A region of all nodes.
struct region_size {
  std::uint64_t bytes = 0;
  std::uint64_t unit_bytes = page_bytes;
  int home = -1;               ///< the node that all units begin at; -1: they are spread over the nodes in blocks
  bool transactional = false;  ///< whatever the other regions are: it is written in atomic blocks
  std::uint64_t minipage_bytes =
      0;  ///< not 0: units of so many bytes, below a page, and fine views that show one of each page
};

}  // namespace quire::timed
