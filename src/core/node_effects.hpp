// SPDX-License-Identifier: BSD-3-Clause
// What machines want done, on this node's mechanisms: each action goes to the part of the node that does it, and what
// domains want done on content, twins and diffs is done here. node_effects.cpp. Driver's thread only.
#pragma once

#include <cstdint>
#include <span>

#include "core/performer.hpp"
#include "protocol/contract/domain.hpp"

namespace quire::core {

class core;

class node_effects final : public effects {
 public:
  explicit node_effects(core& node) : core_(node) {}

  // effects
  void send_units(region_slot& r, model::node_id to, const model::message& m, std::uint64_t first, std::uint64_t count,
                  bool with_content) noexcept override;
  void use_frames(region_slot& r, std::uint64_t first, std::uint64_t count, model::access level) noexcept override;
  void note_protected(region_slot& r, model::access from, model::access to) noexcept override;
  void publish(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept override;
  void wake_units(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept override;
  void refuse_units(region_slot& r, std::uint64_t first, std::uint64_t count, int error) noexcept override;
  void flush_units(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept override;
  void leave_units(region_slot& r, std::uint64_t first, std::uint64_t count, std::uint64_t end) noexcept override;
  void operate(region_slot& r, const model::action& a) noexcept override;
  void complete_call(const model::message& m) noexcept override;
  void hold_unit(region_slot& r, std::uint64_t unit, std::uint64_t level) noexcept override;
  void make_twins(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept override;
  void drop_twins(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept override;
  void tell_unseen(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept override;
  void send_diffs(region_slot& r, const model::action& a, std::uint64_t count) noexcept override;
  void send_patch(region_slot& r, const model::action& a) noexcept override;
  void end_of_actions() noexcept override;

  /// To any node, this one included; the payload is copied.
  void transmit(model::node_id to, const model::message& m, std::span<const std::byte> value) noexcept;
  /// What a domain asks for.
  void perform(protocol::domain& d, const protocol::domain_action& a) noexcept;
  /// Tells a domain of an event, and performs what it asks for: `event(d)`.
  template <class Domain, class Event>
  void feed(Domain& d, Event&& event) noexcept {
    protocol::feed(d, event, [this, &d](const protocol::domain_action& a) { perform(d, a); });
  }
  /// Where written units are found without faults: tells machines which were, by on_written(). Before each release.
  void find_written() noexcept;

 private:
  void trim_twins() noexcept;

  core& core_;
  std::uint64_t twin_bytes_used_ = 0;  ///< since their memory was given back
};

}  // namespace quire::core
