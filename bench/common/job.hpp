// SPDX-License-Identifier: BSD-3-Clause
// What the benchmarks on Quire share.
#pragma once

#include <stdexcept>
#include <string>

#include <quire/quire.hpp>

namespace bench {

inline void expect_nodes(const quire::session& job, int nodes) {
  if (job.nodes() != nodes)
    throw std::runtime_error("this needs " + std::to_string(nodes) + " nodes: quire run -n " + std::to_string(nodes));
}

inline void expect_nodes_or_more(const quire::session& job, int nodes) {
  if (job.nodes() < nodes) expect_nodes(job, nodes);
}

}  // namespace bench
