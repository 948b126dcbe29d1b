// SPDX-License-Identifier: BSD-3-Clause
// Standard output is one file of all nodes, and a stream of each: what a node's threads have written before a barrier,
// or a region, comes before what others write behind it.
#pragma once

#include <stdio.h>
#include <stdio_ext.h>

namespace quire::openmp {

/// Before this node tells others that its threads have come so far.
inline void write_output() noexcept {
  if (::__fpending(stdout) != 0) (void)::fflush(stdout);
}

}  // namespace quire::openmp
