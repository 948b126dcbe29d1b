// SPDX-License-Identifier: BSD-3-Clause
// Parallel blocks (KOAN): block_calls.cpp.
#pragma once

#include <quire/quire.h>

#include <cstdint>

#include "base/status.hpp"
#include "core/region_slot.hpp"

namespace quire::core {

class core;

class block_calls {
 public:
  explicit block_calls(core& node) : core_(node) {}

  // Application threads, as in quire.h: one of each node begins and ends a block.
  [[nodiscard]] base::status begin(std::uint64_t region, unsigned flags) noexcept;
  [[nodiscard]] base::status end(std::uint64_t region, quire_overlap& first) noexcept;
  /// Any thread of a node, for itself.
  [[nodiscard]] base::status declare(std::uint64_t address, std::uint64_t bytes) noexcept;

  // Steps of a change (change.cpp). Driver's thread.
  /// What was written before the block is on its way when this is done.
  void stop_scanned_writes(region_slot& r) noexcept;
  /// What is written from now on is written after the block.
  void close(region_slot& r) noexcept;
  /// The region is about to change, or would if it had not release consistency already: all that was written before has
  /// come.
  void turn(region_slot& r, bool begins, bool checked) noexcept;
  /// Of a region whose machine stays in charge.
  void mark(region_slot& r, bool begins) noexcept;

 private:
  /// All changes have come: into the units whose home is here.
  void merge(region_slot& r) noexcept;

  core& core_;
};

}  // namespace quire::core
