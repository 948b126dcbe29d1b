// SPDX-License-Identifier: BSD-3-Clause
// Messages that synchronise threads and wait, for diffs of this node or of their sender.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.hpp"
#include "base/fault_heap.hpp"
#include "model/edge.hpp"
#include "model/message.hpp"
#include "protocol/release/state.hpp"

namespace quire::release {

using model::edge;

/// Largest payload of a message that synchronises, and of notices.
inline constexpr std::size_t max_value_bytes = 512;

struct held_message {
  std::uint64_t after = 0;  ///< out: diffs up to this group are of threads that release by it; in: it waits for them
  edge what = edge::none;
  node_id to{};
  model::message m{};
  std::size_t bytes = 0;
  std::array<std::byte, max_value_bytes> value{};
};

/// Behind all that wait.
inline held_message& hold(base::fault_vector<held_message>& gate, const model::message& m,
                          std::span<const std::byte> value) {
  CHECK(value.size() <= max_value_bytes);
  held_message& held = gate.emplace_back();
  held.m = m;
  held.bytes = value.size();
  std::copy(value.begin(), value.end(), held.value.begin());
  return held;
}

}  // namespace quire::release
