// SPDX-License-Identifier: BSD-3-Clause
// Messages on their way in: content lands in the system view, machines take the message. inbox.cpp, payloads.cpp.
// Driver's thread only.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "base/fault_heap.hpp"
#include "core/arrivals.hpp"
#include "core/region_slot.hpp"
#include "model/message.hpp"
#include "protocol/contract/traits.hpp"
#include "transport/transport.hpp"

namespace quire::core {

class core;

class inbox final : public transport::sink {
 public:
  explicit inbox(core& node) : core_(node) {}

  // transport::sink
  [[nodiscard]] transport::landing place(const model::message& m) noexcept override;
  void deliver(const model::message& m) noexcept override;
  void peer_lost(model::node_id peer) noexcept override;

  /// A message that has come whole, and waits for nothing that its sender has told before it.
  void admit(const model::message& m, std::span<const std::byte> value) noexcept;
  /// A message that has come whole, from anywhere.
  void handle(const model::message& m, std::span<const std::byte> value) noexcept;
  /// A message of one unit that has waited for its content. The performer is to be flushed.
  void take_unit(region_slot& r, const model::message& one) noexcept;
  /// The content of units that a message brings is there, whatever becomes of the message.
  void landed(region_slot& r, const model::message& m) noexcept;
  void found_in_frames(region_slot& r, const model::message& m) noexcept;
  /// What these nodes were sending comes no more: a bit each.
  void forget_landings(std::uint64_t dead) noexcept;
  /// The content that it waited for cannot be had. False if it is to be taken all the same.
  [[nodiscard]] bool refuse_unit(region_slot& r, const model::message& one, int error) noexcept;
  /// About units of a region that orders (core::orders()).
  [[nodiscard]] bool is_ordered(const model::message& m, const protocol::message_traits& t) const noexcept;
  /// Why no node may send this, nor take it; null if all is well.
  [[nodiscard]] const char* fault_of(const model::message& m) const noexcept;
  /// Ends the process: whoever sent it waits, and what is said in it is lost.
  [[noreturn]] void refuse(const model::message& m, const char* why) noexcept;

  /// Whether there were diffs since the last question: their sender's next message is on its way.
  [[nodiscard]] bool more_follows() noexcept { return std::exchange(more_follows_, false); }

  static constexpr std::size_t value_bytes = 512;  ///< of a message that brings a value, at most

 private:
  [[nodiscard]] bool is_too_late(const model::message& m) const noexcept;
  void count_received(region_slot& r, const model::message& m) const noexcept;
  void handle_units(const model::message& m, const protocol::message_traits& t) noexcept;
  [[nodiscard]] bool must_wait(region_slot& r, std::uint64_t unit, std::uint64_t ahead, protocol::awaits what) noexcept;
  void step(region_slot& r, const model::message& one, const protocol::message_traits& t) noexcept;
  void handle_part(const model::message& m, std::span<const std::byte> value) noexcept;
  void handle_memory(const model::message& m, std::span<const std::byte> value) noexcept;
  void handle_update(const model::message& m, std::span<const std::byte> bytes) noexcept;
  [[nodiscard]] transport::landing place_offer(const model::message& m) noexcept;
  [[nodiscard]] transport::landing place_content(const model::message& m) noexcept;

  core& core_;
  std::array<std::byte, value_bytes> landing_{};
  base::fault_vector<model::message>
      landings_{};  ///< where nodes may be lost: content of tracked frames (frames.hpp) that is being received
  arrivals updates_{};
  bool more_follows_ = false;
};

}  // namespace quire::core
