// SPDX-License-Identifier: BSD-3-Clause
// The pseudorandom numbers of the NAS parallel benchmarks (RNR-94-007): x' = 5^13 x mod 2^46, as a double
// in (0, 1). The reference code computes this with pairs of doubles; 64-bit integers give the very same numbers.
#pragma once

#include <cstdint>

namespace apps {

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : x_(seed) {}

  [[nodiscard]] double next() {
    x_ = x_ * multiplier & mask;
    return static_cast<double>(x_) * 0x1p-46;
  }

  /// As if next() had been called `count` times: every worker can begin where its part of the sequence begins.
  void skip(std::uint64_t count) {
    for (std::uint64_t power = multiplier; count != 0; count >>= 1, power = power * power & mask)
      if (count & 1) x_ = x_ * power & mask;
  }

 private:
  static constexpr std::uint64_t multiplier = 1220703125;  // 5^13
  static constexpr std::uint64_t mask = (std::uint64_t{1} << 46) - 1;
  std::uint64_t x_;
};

}  // namespace apps
