// SPDX-License-Identifier: BSD-3-Clause
// A region goes, as one node sees it: region_remover.cpp. Who says when is region::keeper of node 0. Driver's thread only.
#pragma once

#include <cstdint>

#include "core/region_slot.hpp"

namespace quire::core {

class core;

/// Why a region stays.
enum class stays : std::uint64_t { no, unknown, pinned, in_block, changes };

/// What a node says of a region that is about to go.
struct region_rest {
  std::uint64_t sent = 0, received = 0;  ///< units in messages; see change_state
  std::uint64_t dead = 0;                ///< nodes, as far as it knows: what it counts begins anew with each
  bool quiet = false;                    ///< it waits for nothing, and will tell nothing by itself
};

class region_remover {
 public:
  explicit region_remover(core& node) : core_(node) {}

  /// What its threads ask for is kept for later, and what they have written is told. Nothing has changed if it stays.
  [[nodiscard]] stays begin(region_slot& r) noexcept;
  /// It stays after all.
  void give_up(region_slot& r) noexcept;
  [[nodiscard]] region_rest look(region_slot& r) noexcept;
  /// Nothing of it is left here: threads that asked for something of it are told that it is gone.
  void finish(region_slot& r) noexcept;

 private:
  void end_waiting(region_slot& r) noexcept;

  core& core_;
};

}  // namespace quire::core
