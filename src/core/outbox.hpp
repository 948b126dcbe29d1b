// SPDX-License-Identifier: BSD-3-Clause
// Messages on their way out: outbox.cpp. Driver's thread only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/fault_heap.hpp"
#include "core/local_queue.hpp"
#include "core/region_slot.hpp"
#include "model/action.hpp"
#include "model/edge.hpp"
#include "model/message.hpp"
#include "protocol/contract/traits.hpp"
#include "transport/transport.hpp"

namespace quire::core {

class core;

class outbox {
 public:
  explicit outbox(core& node) : core_(node) {}

  /// The only way to the transport.
  void post(model::node_id to, const model::message& m, std::span<const std::byte> payload,
            transport::urgency how = transport::urgency::now,
            transport::lasting lasts = transport::lasting::until_sent) noexcept;
  /// To any node, this one too.
  void send(model::node_id to, const model::message& m, std::span<const std::byte> value) noexcept;
  /// To this one.
  void send_here(const model::message& m, std::span<const std::byte> value) noexcept;
  /// Messages that synchronise threads take memory along.
  void synchronise(model::node_id to, const model::message& m, std::span<const std::byte> value,
                   model::edge what) noexcept;
  /// A message about units of a region, that its machine wants to be sent.
  void send_units(region_slot& r, model::node_id to, const model::message& m, std::uint64_t first, std::uint64_t count,
                  bool with_content) noexcept;
  /// Content of a region that orders, which domain::leaves() has let go.
  void send_ordered(model::node_id to, const model::message& m) noexcept;
  /// Whether all content that was sent in the period before has left, and another one begins
  /// (transport::turn_period()). What waits has not left.
  [[nodiscard]] bool turn_period() noexcept;
  /// Threads could write a unit of a region that orders, and cannot any more: what they have written before is released
  /// with the next content.
  void note_write_ended() noexcept { write_ended_ = true; }
  /// A pin's grant, with the content as it is when all that is known has been told.
  void send_grant(model::node_id to, model::message m) noexcept;
  /// Atomic operation on the content; its result is sent.
  void operate(region_slot& r, const model::action& a) noexcept;
  /// The reply to a call of this node.
  void complete_call(const model::message& m) noexcept;
  /// What had to wait until the actions before it are done.
  void send_later() noexcept;

  /// Messages of this node to itself.
  local_queue local;

 private:
  void send_behind(model::node_id to, model::message m, const protocol::message_traits& t) noexcept;
  void send_in_order(region_slot& r, model::node_id to, const model::message& m,
                     const protocol::message_traits& t) noexcept;
  void send_content(region_slot& r, model::node_id to, model::message m, const protocol::message_traits& t) noexcept;
  void use_host_frames(region_slot& r, const model::message& m, std::uint64_t first, std::uint64_t count) noexcept;
  /// Atomic operations of regions with release consistency, pins, pushes, and all about regions that order: what must
  /// wait until the actions before it are done.
  struct later_message {
    model::node_id to{};
    model::message m{};
    model::edge what{};
    bool completes = false;  ///< a call here; nothing is sent
  };
  core& core_;
  base::fault_vector<later_message> later_{};
  bool sends_later_ = false, write_ended_ = false;
  std::uint64_t content_waits_ = 0;  ///< messages of regions that order, with content
};

}  // namespace quire::core
