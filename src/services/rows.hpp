// SPDX-License-Identifier: BSD-3-Clause
// Steps that all nodes take in one order, as rows of a table. After work of its own a node meets the others, who hear
// the worst of all outcomes: so all take the same way.
#pragma once

#include <cstdint>

namespace quire::services {

enum class taken_by : std::uint8_t {
  all_together,  ///< all hear the same of it
  each,          ///< then all meet
  leader,        ///< one node; then all meet
  each_alone,    ///< it cannot fail
  leader_alone,
};

template <class Work>
struct row {
  Work what;
  taken_by whose;
  [[nodiscard]] constexpr bool meets() const noexcept { return whose == taken_by::each || whose == taken_by::leader; }
  [[nodiscard]] constexpr bool is_alone() const noexcept {
    return whose == taken_by::each_alone || whose == taken_by::leader_alone;
  }
  [[nodiscard]] constexpr bool is_mine(bool leads) const noexcept {
    return leads || (whose != taken_by::leader && whose != taken_by::leader_alone);
  }
};

}  // namespace quire::services
