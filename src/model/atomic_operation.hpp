// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations on a 64-bit word, done where the data is.
#pragma once

#include <cstdint>

namespace quire::model {

/// Travels in message::operation. Operands: `a` is the value (compare_exchange: what is expected), `b` what is desired.
enum class atomic_operation : std::uint32_t { add = 0, exchange = 1, compare_exchange = 2 };

/// What a word holds after the operation.
[[nodiscard]] constexpr std::uint64_t apply(atomic_operation operation, std::uint64_t before, std::uint64_t a,
                                            std::uint64_t b) noexcept {
  switch (operation) {
    case atomic_operation::add:
      return before + a;
    case atomic_operation::exchange:
      return a;
    case atomic_operation::compare_exchange:
      break;
  }
  return before == a ? b : before;
}

}  // namespace quire::model
