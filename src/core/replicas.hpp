// SPDX-License-Identifier: BSD-3-Clause
// Content on two nodes (QUIRE_REPLICAS), as far as it is the engine's: where content for backups lands, and messages
// that wait until all that this node has written is safe. protocol/sequential/replicas.hpp has the rounds. Driver's
// thread only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>

#include "base/fault_heap.hpp"
#include "core/arrivals.hpp"
#include "model/edge.hpp"
#include "model/message.hpp"
#include "protocol/sequential/replicas.hpp"

namespace quire::core {

class core;

/// Messages that wait, and content that comes.
class replica_traffic {
 public:
  static constexpr std::size_t max_value_bytes = 512;
  struct held_message {
    std::uint64_t ticket = 0;
    model::node_id to{};
    model::message m{};
    std::array<std::byte, max_value_bytes> value{};
  };

  explicit replica_traffic(sequential::replica_rounds& of) noexcept : rounds(of) {}

  sequential::replica_rounds& rounds;  ///< of the domain of sequential consistency
  /// Not into the frame: half of it would be no content at all if the owner died meanwhile.
  arrivals arriving;

  /// True if the message was taken, to leave later: it says what threads here have done, or is behind one that does.
  [[nodiscard]] bool hold_back(model::node_id to, const model::message& m, std::span<const std::byte> value,
                               bool tells) {
    const std::uint64_t own = tells ? rounds.ticket() : rounds.ended;
    const std::uint64_t ticket = gate_.empty() ? own : std::max(own, gate_.back().ticket);
    if (gate_.empty() && ticket <= rounds.ended) return false;
    held_message& h = gate_.emplace_back();
    h.ticket = ticket;
    h.to = to;
    h.m = m;
    CHECK(value.size() <= max_value_bytes);
    if (!value.empty()) std::memcpy(h.value.data(), value.data(), value.size());
    return true;
  }
  /// Calls f(to, message, value) for all that may leave: what the rounds up to `ended` have made safe.
  template <class F>
  void open_gate(std::uint64_t ended, F&& f) {
    for (; !gate_.empty() && gate_.front().ticket <= ended; gate_.pop_front()) {
      const held_message& h = gate_.front();
      f(h.to, h.m, std::span<const std::byte>(h.value).first(h.m.payload_bytes));
    }
  }
  [[nodiscard]] bool busy() const noexcept { return rounds.active || rounds.due() || !gate_.empty(); }

 private:
  base::fault_deque<held_message> gate_;
};

class replicator {
 public:
  /// All content that is to be on two nodes is.
  [[nodiscard]] bool is_safe() const noexcept;
  replicator(core& node, sequential::replica_rounds& rounds) : traffic(rounds), core_(node) {}

  /// Rounds begin and end. Between steps of machines.
  void replicate() noexcept;
  /// Content for this node as a backup.
  void on_content(const model::message& m, std::span<const std::byte> content) noexcept;
  /// As of replica_traffic, where the job keeps content on two nodes.
  [[nodiscard]] bool hold_back(model::node_id to, const model::message& m, std::span<const std::byte> value,
                               bool tells) noexcept;

  replica_traffic traffic;

 private:
  core& core_;
};

}  // namespace quire::core
