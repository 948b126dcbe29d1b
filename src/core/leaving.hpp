// SPDX-License-Identifier: BSD-3-Clause
// This node leaves a job that goes on without it: what it keeps goes to others, by the protocol of each region; then it
// begins the rounds of src/watch/recovery.hpp, as one that has nothing. leaving.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "model/ids.hpp"

namespace quire::core {

class core;
struct region_slot;

/// What keeps this node in its job for good, for people; null: nothing does. Driver's thread.
[[nodiscard]] const char* why_node_stays(core& node) noexcept;

class leaver {
 public:
  explicit leaver(core& node);  ///< not by the driver: takes all the memory that it will need

  /// What this node cannot give up, for people; null: there is nothing. Driver's thread.
  [[nodiscard]] const char* obstacle() const noexcept { return why_node_stays(core_); }
  /// Others are asked to take units that this node keeps; when there are none, and nothing of this node is under way,
  /// it takes leave: true, and no thread of it may use shared memory any more. Again and again. Driver's thread, not
  /// within a step.
  [[nodiscard]] bool go_on() noexcept;
  /// Units that go_on() has found here the last time.
  [[nodiscard]] std::uint64_t units_here() const noexcept { return units_; }

 private:
  struct place {
    model::region_id region;
    std::uint64_t unit;
  };
  [[nodiscard]] bool keeps(model::region_id region, std::uint64_t unit) const noexcept;
  [[nodiscard]] model::node_id taker_of(region_slot& r, std::uint64_t unit) noexcept;
  [[nodiscard]] std::uint64_t hand_over() noexcept;
  void tell_heirs() noexcept;
  [[nodiscard]] bool is_idle() const noexcept;

  core& core_;
  std::uint64_t units_ = 0;
  std::vector<place> asked_{};   ///< units that others are asked to take
  std::uint64_t others_ = 0;     ///< units that were here beside those
  std::uint64_t ask_again_ = 0;  ///< when the rest of them is asked for again
  std::uint64_t to_spread_ = 0;  ///< so many more go round the others
  bool counted_ = false;         ///< how many units there were
};

}  // namespace quire::core
