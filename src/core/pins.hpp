// SPDX-License-Identifier: BSD-3-Clause
// Page locking (KOAN: acquire and release): pins.cpp.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "core/region_slot.hpp"
#include "model/message.hpp"

namespace quire::core {

class core;
struct pin_op;

class pin_calls {
 public:
  explicit pin_calls(core& node) : core_(node) {}
  void open() noexcept;

  /// Pins all units of a range here. `timeout_ms` as in quire.h; after QUIRE_TIMED_OUT or QUIRE_BUSY `holder` is
  /// the node that has the first one missed pinned, -1 if it is not known. Application thread.
  [[nodiscard]] base::status acquire(std::uint64_t address, std::uint64_t bytes, std::int64_t timeout_ms,
                                     int& holder) noexcept;
  [[nodiscard]] base::status release(std::uint64_t address, std::uint64_t bytes) noexcept;
  /// Before this node leaves: what it has pinned must not keep the others waiting. Driver's thread.
  void drop_pins() noexcept;

 private:
  void begin_pin(pin_op& o) noexcept;
  void give_pin_up(pin_op& o) noexcept;
  [[nodiscard]] base::status pin_unit(region_ref r, std::uint64_t unit, std::uint64_t deadline_ns) noexcept;
  [[nodiscard]] base::status unpin_units(region_ref r, std::uint64_t first, std::uint64_t end) noexcept;
  [[nodiscard]] int find_holder(region_ref r, std::uint64_t unit) noexcept;
  void answer_holder(const model::message& m) noexcept;

  core& core_;
};

}  // namespace quire::core
