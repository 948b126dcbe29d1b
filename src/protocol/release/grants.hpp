// SPDX-License-Identifier: BSD-3-Clause
// At homes: which node has the pin of a unit, and what waits for its end.
#pragma once

#include <cstdint>

#include "base/fault_heap.hpp"
#include "protocol/release/unit_table.hpp"

namespace quire::release {

class grants {
 public:
  explicit grants(unit_table& table) noexcept : table_(table) {}

  struct grant {
    std::uint64_t unit = 0;
    bool held = false;
    node_id holder{};
    base::fault_vector<message> queue{};  ///< first come, first served
  };
  /// Null if nobody has the pin, and nothing waits.
  [[nodiscard]] const grant* find(std::uint64_t unit) const noexcept;
  [[nodiscard]] grant* find(std::uint64_t unit) noexcept {
    return const_cast<grant*>(static_cast<const grants*>(this)->find(unit));
  }
  grant& make(std::uint64_t unit, unit_state& s);
  void drop(std::uint64_t unit, unit_state& s);
  /// Whether what `who` asks of the unit waits for the end of a pin.
  [[nodiscard]] bool must_wait(std::uint64_t unit, const unit_state& s, node_id who) const;
  void put_off(const message& m);

 private:
  unit_table& table_;
  base::fault_vector<grant> grants_{};  ///< of units whose home is here, in order
};

}  // namespace quire::release
