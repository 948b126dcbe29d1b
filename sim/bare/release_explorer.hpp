// SPDX-License-Identifier: BSD-3-Clause
// All interleavings of a small release_cluster: from each state the oldest message between any two nodes may arrive
// next (a pair keeps its order), and every thread that may go on may do its next step.
//
// Nothing is copied: a path is run from the start again. What is a state? A node's state follows from what has happened
// at it, in which order: messages with their content, and steps of its threads. So a state is known by one running hash
// for each node, and paths that differ only in the order of what happens at different nodes meet; only one of them is
// walked on. With a limit on what is explored (`most_states`), it is the paths nearest to the first one that are left
// out last.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "sim/random.hpp"
#include "sim/bare/release_cluster.hpp"

namespace quire::sim {

struct release_exploration {
  std::string failure{};  ///< empty: all is well. Else what is wrong, and the steps that lead to it.
  std::uint64_t states = 0, steps = 0, ends = 0, runs = 0;
  std::size_t longest = 0;
  bool complete = false;
};

class release_explorer {
 public:
  /// Makes the objects, threads and programs of a cluster, the same each time.
  using scenario = std::function<void(release_cluster&)>;
  release_explorer(const release_options& shape, scenario make, std::uint64_t most_states = 2'000'000)
      : shape_(shape), make_(std::move(make)), most_states_(most_states) {}

  /// `at_end` is called where nothing can happen any more, besides check_quiet(released).
  release_exploration run(bool released, const std::function<void(release_cluster&)>& at_end = {});

 private:
  struct flight {
    node_id from{}, to{};
    message m{};
    std::vector<std::byte> payload{};
  };
  struct choice {
    enum class kind : std::uint8_t { message, thread } what = kind::thread;
    std::uint32_t from = 0, to = 0;  ///< of the message; `from` is the thread
  };
  class world;
  struct branch {
    std::size_t depth = 0;  ///< steps of the path before it
    std::vector<choice> left{};
  };

  release_options shape_;
  scenario make_;
  std::uint64_t most_states_;
};

}  // namespace quire::sim
