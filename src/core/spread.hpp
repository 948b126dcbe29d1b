// SPDX-License-Identifier: BSD-3-Clause
// Copies that nobody has asked for, under release consistency (push, and page broadcasting: KOAN, BeginProduction and
// EndProduction). The home of a unit sends its content to all nodes by a tree, in messages of several units; who has
// one passes it on, takes what it can use, and answers when those below it have answered. Driver's thread only; buffers
// are kept.
//
// Payload of message_kind::spread: what the home knew when it took the content (the last interval of each node, 4 bytes
// each, padded to 8), then entries:
//
//     8 bytes  unit
//     4 bytes  bytes that follow: those of a unit, or 0 if it was never written
//     4 bytes  zero
//     ...      content
//
// m.requester is the producer, m.a the home, m.acks the number of entries, m.c the producer's call; m.token is the
// sender's own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/fault_heap.hpp"
#include "core/region_slot.hpp"
#include "model/message.hpp"

namespace quire::core {

class core;

class spread_traffic {
 public:
  static constexpr std::size_t message_bytes = 64 * 1024;  ///< about so much, and one unit at least

  explicit spread_traffic(core& e) : core_(e) {}

  /// The home sends `count` units, as `call` of the node `producer` wants. In the middle of actions: nothing leaves
  /// yet, as that makes actions of its own.
  void add(region_slot& r, std::uint64_t first, std::uint64_t count, model::node_id producer,
           std::uint64_t call) noexcept;
  /// What was gathered so far leaves.
  void send_all() noexcept;
  // As transport::sink.
  /// Whether a payload of so many bytes may be of `r`.
  [[nodiscard]] bool is_legal(const region_slot& r, std::size_t bytes) const noexcept;
  [[nodiscard]] std::byte* place(const model::message& m) noexcept;
  void deliver(const model::message& m) noexcept;
  void on_ack(const model::message& m) noexcept;
  /// Of a message that leaves now.
  [[nodiscard]] std::span<const std::byte> payload_of(const model::message& m) const noexcept {
    return {passages_[m.token]->payload.data(), passages_[m.token]->bytes};
  }

  /// Whether something of a region is under way here.
  [[nodiscard]] bool has_any_of(const region_slot& r) const noexcept {
    return std::any_of(passages_.begin(), passages_.end(),
                       [&](const auto& p) { return p->used && p->m.region == model::region_id{r.about.id}; });
  }

  struct counters {
    std::uint64_t sent = 0, taken = 0, left = 0;  ///< units: by homes; by nodes that could use them; by others
  };
  [[nodiscard]] const counters& count() const noexcept { return count_; }

 private:
  static constexpr std::size_t nobody = ~std::size_t{0};
  /// A message that this node has begun, or passes on, until all below have answered.
  struct passage {
    bool used = false;
    model::node_id from{};  ///< who is to be told; this node if it is the home
    std::uint64_t from_token = 0;
    model::message m{};
    unsigned left = 0;
    std::size_t bytes = 0;
    std::size_t room = 0;                     ///< bytes that there may be
    base::fault_vector<std::byte> payload{};  ///< as large as any so far
  };
  [[nodiscard]] std::size_t find_free(std::size_t bytes) noexcept;
  void close() noexcept;
  void pass_on(std::size_t index) noexcept;
  void answer(passage& p) noexcept;
  void take(const passage& p) noexcept;

  core& core_;
  base::fault_vector<base::fault_ptr<passage>> passages_{};
  std::size_t open_ = nobody;
  base::fault_vector<std::size_t> closed_{};   ///< that are full, and have not left
  base::fault_vector<std::uint32_t> known_{};  ///< what the home of a message that is taken knew
  counters count_{};
};

}  // namespace quire::core
