// SPDX-License-Identifier: BSD-3-Clause
// The records of all nodes as one graph: steps, and which of them need which. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "predict/replay.hpp"
#include "record/events.hpp"

namespace quire::tools::predict {

inline constexpr std::uint32_t no_step = ~std::uint32_t{0};

struct step {
  record::event_type type = record::event_type::none;
  std::uint8_t kind = 0;
  std::uint16_t node = 0;
  std::uint32_t thread = 0;  ///< of all threads of the job
  std::uint32_t needs = 0;   ///< so many steps, or messages, before it
  std::uint32_t first_edge = no_step, first_message = no_step;
  double slept_ns = 0;  ///< a thread's step: real time beside that, in which it has neither used nor wanted a core
  double ns = 0;        ///< a thread's step: processor time since the one before; a context: how long it takes
};
/// The step `to` comes at least so long after the one that has the edge.
struct edge {
  std::uint32_t to = no_step, next = no_step;
  double ns = 0;
  bool is_order = false;  ///< only since it came in this order
};
struct message_sent {
  std::uint32_t to = no_step, next = no_step;  ///< the step that takes it
  std::uint16_t peer = 0;
  std::uint32_t bytes = 0;
};

struct graph {
  std::vector<step> steps{};
  std::vector<edge> edges{};
  std::vector<message_sent> messages{};
  std::uint32_t threads = 0;
  std::uint64_t from_nowhere = 0;  ///< messages that came, and whose sending is not in the records
  std::vector<std::vector<std::uint32_t>> lock_requests{};  ///< of each lock, as they came where it is kept
};

[[nodiscard]] graph graph_of(const std::vector<node_events>& job, order keep, double speed, unsigned threads_a_node);

}  // namespace quire::tools::predict
