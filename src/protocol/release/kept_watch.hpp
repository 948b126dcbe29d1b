// SPDX-License-Identifier: BSD-3-Clause
// At releases of a node: which of the units that keep their right (kept.cpp) have been written, and which give it up.
#pragma once

#include "protocol/release/node_state.hpp"

namespace quire::release {

class kept_watch {
 public:
  explicit kept_watch(node_state& state) noexcept : state_(state) {}
  /// `all_end`: none keeps its right beyond this release.
  void look(bool all_end);
  void stop(machine& m, const written_unit& w);

 private:
  node_state& state_;
};

}  // namespace quire::release
