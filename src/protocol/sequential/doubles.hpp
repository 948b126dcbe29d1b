// SPDX-License-Identifier: BSD-3-Clause
// Double faults (KOAN; doubles.cpp): what units and threads have shown of the write that follows a read.
#pragma once

#include <cstdint>

#include "protocol/sequential/unit_table.hpp"

namespace quire::sequential {

class habits {
 public:
  explicit habits(unit_table& table) noexcept : table_(table) {}

  /// Threads of this node are going to write what they read of `unit` (KOAN: double faults), or no longer.
  void on_advice(std::uint64_t unit, bool will_write);
  [[nodiscard]] bool read_as_write(unit_state& s);
  void note_write(unit_state& s);
  void note_loss(unit_state& s, access to);

 private:
  unit_table& table_;
};

}  // namespace quire::sequential
