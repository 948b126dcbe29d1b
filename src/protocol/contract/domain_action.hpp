// SPDX-License-Identifier: BSD-3-Clause
// What a domain wants done: one thing at a time, in order. The core does it on mechanisms, the simulator on its virtual
// network and memory. What it refers to lasts until the domain is asked for the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/action.hpp"
#include "model/edge.hpp"
#include "model/ids.hpp"
#include "model/message.hpp"

namespace quire::protocol {

struct domain_action {
  enum class kind : std::uint8_t {
    perform,      ///< `list`, of `region`: in order, together at perform_all at the latest
    perform_all,  ///< now
    transmit,     ///< `m` to any node, this one included; `value` is copied
    hear,         ///< `m`, which keeps_back() has kept, with `value`: it is handled as if it came now
    admit,        ///< `m`, which waits() has kept, with `value`: it is as if it came now, to all other domains too
    left_back,  ///< `m` with `value`, which leaves() has taken as `edge`, to `to`, has not left: it is the core's again
    compare,    ///< whether the content of the unit differs from its twin: on_compared()
    look_at_sends,  ///< whether content or twins that this node has sent may still be read where they lie: on_sends()
    released,       ///< a release has ended: what threads here have written since the one before belongs to it
    interval,       ///< an interval of this node has `number`, and has what belongs to the first so many `releases`
                    ///< that no interval before it has; 0: homes have moved
    acquired,       ///< all that was heard of intervals of others, by node the last in `known`, has been applied
  };
  kind what = kind::perform;
  model::region_id region{};
  model::node_id to{};
  model::edge edge = model::edge::none;
  std::uint32_t number = 0;
  std::uint64_t unit = 0, releases = 0;
  const model::actions* list = nullptr;
  model::message m{};
  std::span<const std::byte> value{};
  std::span<const std::uint32_t> known{};
};

}  // namespace quire::protocol
