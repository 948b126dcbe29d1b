// SPDX-License-Identifier: BSD-3-Clause
// At releases of a node: which of the units that keep their right (kept.cpp) have been written, and which give it up.
#pragma once

#include "protocol/release/node_state.hpp"

namespace quire::release {

class kept_watch {
 public:
  explicit kept_watch(node_state& state) noexcept : state_(state) {}
  /// A task that looks at all. `all_end`: none keeps its right beyond this release.
  void begin_look(bool all_end);
  /// A task that ends the right of one.
  void begin_end(const written_unit& w);

  // The tasks go on.
  void look_on(task& t);
  void end_on(task& t);

 private:
  void end(machine& m, const written_unit& w);

  node_state& state_;
};

}  // namespace quire::release
