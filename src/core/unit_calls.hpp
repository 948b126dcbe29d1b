// SPDX-License-Identifier: BSD-3-Clause
// Calls of threads that are about units, and end with messages: atomic operations, pushes, production phases (KOAN).
// unit_calls.cpp.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "core/ops.hpp"

namespace quire::core {

class core;

class unit_calls {
 public:
  explicit unit_calls(core& node) : core_(node) {}

  // Application threads.
  /// Atomic operation on the 64-bit word at `address`; gives what was there before. QUIRE_LOST; QUIRE_PEER_LOST if
  /// nobody knows whether it was done.
  [[nodiscard]] base::status atomic(std::uint64_t address, std::uint32_t operation, std::uint64_t a, std::uint64_t b,
                                    std::uint64_t& before) noexcept;
  /// QUIRE_BUSY if some of it is pinned here.
  [[nodiscard]] base::status push(std::uint64_t address, std::uint64_t bytes) noexcept;
  /// Begins to notice what threads of this node write in a range, or ends that, and sends all others what was written.
  [[nodiscard]] base::status produce(std::uint64_t address, std::uint64_t bytes, bool end) noexcept;

  // Driver's thread.
  /// A reply has come for a call here.
  void finish(const model::message& m) noexcept;
  /// Units of a push that homes have spread are at all nodes.
  void on_spread_done(const model::message& m) noexcept;

  /// Of a region of weaker consistency, in a job that goes on when nodes die: the call is refused.
  [[nodiscard]] base::status refusal(const region_slot& r, const char* call) const noexcept;

 private:
  void push_units(call_op& call, std::uint64_t first, std::uint64_t end, bool written_only) noexcept;
  void begin_production(call_op& call, std::uint64_t first, std::uint64_t end) noexcept;

  core& core_;
};

}  // namespace quire::core
