// SPDX-License-Identifier: BSD-3-Clause
// For programs that count what nodes send each other, or look how late they see it: nodes of one host stand for several
// hosts, also where a test has them share frames (QUIRE_TEST_HOST_FRAMES).
#pragma once

#include <stdlib.h>

namespace quire::test {

/// Before the start, on all nodes.
inline void keep_nodes_apart() { (void)::setenv("QUIRE_HOST_FRAMES", "0", 1); }

}  // namespace quire::test
