// SPDX-License-Identifier: BSD-3-Clause
// When a node that has passed the last barrier of the job may close its transport. The end of the barrier comes down a
// tree of the nodes. A node that closes while a child has sent it something that it has not read resets their
// connection, and the barrier's end on its way to the child may be lost with it. So each node tells its parent that it
// has passed, and goes when its children have told, or are gone. Whom a node loses then, it needs no more.
//
// A pure machine. Used by src/core (driver's thread).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace quire::watch {

class parting {
 public:
  explicit parting(unsigned nodes) : nodes_(nodes, state::stays) {}

  /// This node has passed, and waits for each node of which `is_child(node)` is true.
  template <class F>
  void begin(F is_child) noexcept {
    begun_ = true;
    for (unsigned node = 0; node < nodes_.size(); ++node) {
      if (nodes_[node] != state::stays || !is_child(node)) continue;
      nodes_[node] = state::awaited;
      ++awaited_;
    }
  }
  /// A node has passed, or is gone; perhaps before this one.
  void on_gone(unsigned node) noexcept {
    if (node >= nodes_.size()) return;
    if (std::exchange(nodes_[node], state::gone) == state::awaited) --awaited_;
  }
  [[nodiscard]] bool begun() const noexcept { return begun_; }
  [[nodiscard]] bool done() const noexcept { return begun_ && awaited_ == 0; }

 private:
  enum class state : std::uint8_t { stays, awaited, gone };
  std::vector<state> nodes_;
  unsigned awaited_ = 0;
  bool begun_ = false;
};

}  // namespace quire::watch
