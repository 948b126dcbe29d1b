// SPDX-License-Identifier: BSD-3-Clause
// The graph of the benchmarks of garbage collection: a binary tree, with a reference from each object to any other.
#pragma once

#include <cstdint>

namespace bench {

struct edges {
  std::uint64_t left = 0, right = 0, anywhere = 0;  ///< 0 is none of the first two
};

/// Of an object of so many. In an order in which neighbours in memory are none in the tree.
inline edges edges_of(std::uint64_t i, std::uint64_t count) {
  edges to;
  if (2 * i + 1 < count) to.left = 2 * i + 1;
  if (2 * i + 2 < count) to.right = 2 * i + 2;
  to.anywhere = (i * 0x9e3779b97f4a7c15u >> 20) % count;
  return to;
}

}  // namespace bench
