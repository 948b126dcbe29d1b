// SPDX-License-Identifier: BSD-3-Clause
// A region goes, as one node sees it: region_remover.cpp. Who says when is region::keeper of node 0. Driver's thread
// only.
#pragma once

#include <cstdint>
#include <span>

#include "base/fault_heap.hpp"
#include "core/local_queue.hpp"
#include "core/region_rest.hpp"
#include "core/region_slot.hpp"
#include "model/message.hpp"

namespace quire::core {

class core;

class region_remover {
 public:
  explicit region_remover(core& node) : core_(node) {}

  /// What its threads ask for is kept for later, and what they have written is told. Nothing has changed if it stays.
  [[nodiscard]] stays begin(region_slot& r) noexcept;
  /// It stays after all.
  void give_up(region_slot& r) noexcept;
  [[nodiscard]] region_rest look(region_slot& r) noexcept;
  /// Its content is on its way between memory and a store, which may take as long as a store hangs; or nodes agree who
  /// has died, which takes rounds of the driver: the last node that lives would ask itself without end. So nobody looks
  /// meanwhile,
  [[nodiscard]] bool looks_later(const region_slot& r) const noexcept;
  /// and the message that asks for a look is handled when that has ended. One for each region: a later one takes its
  /// place.
  void postpone(const region_slot& r, const model::message& m, std::span<const std::byte> value);
  /// Once a round, and when a recovery has ended. True if a message is handled now.
  bool look_at_postponed() noexcept;
  /// Nothing of it is left here: threads that asked for something of it are told that it is gone.
  void finish(region_slot& r) noexcept;

 private:
  void end_waiting(region_slot& r) noexcept;

  struct postponed {
    std::uint16_t region = 0;
    local_message what{};
  };
  core& core_;
  base::fault_vector<postponed> postponed_{};
};

}  // namespace quire::core
