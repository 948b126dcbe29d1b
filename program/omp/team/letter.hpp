// SPDX-License-Identifier: BSD-3-Clause
// A word that one node sends to another while a region runs. Pure.
#pragma once

#include <cstdint>

namespace quire::program {

struct letter {
  enum class kind : std::uint8_t { none, arrived, released, hungry, given, ended, left };
  kind what = kind::none;
  std::uint64_t value = 0;  ///< up to 2^60: an address of shared memory, or the number of a meeting
};

constexpr unsigned letter_kind_bits = 4;
/// Never zero.
[[nodiscard]] constexpr std::uint64_t word_of(const letter& l) noexcept {
  return l.value << letter_kind_bits | static_cast<std::uint64_t>(l.what);
}
[[nodiscard]] constexpr letter letter_of(std::uint64_t word) noexcept {
  return {static_cast<letter::kind>(word & ((1u << letter_kind_bits) - 1)), word >> letter_kind_bits};
}

}  // namespace quire::program
