// SPDX-License-Identifier: BSD-3-Clause
// The simulator's only source of chance: SplitMix64 (Steele, Lea and Flood 2014). The same seed gives the same run on
// every machine, which the distributions of the standard library do not promise.
#pragma once

#include <cstdint>

namespace quire::sim {

/// A well mixed function of `x`, for hashes and for seeds that follow from other seeds.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class random {
 public:
  explicit constexpr random(std::uint64_t seed) noexcept : state_(seed) {}
  constexpr std::uint64_t next() noexcept { return mix(state_ += 0x9e3779b97f4a7c15u); }
  /// In [0, n); n is not zero. The bias is below n / 2^64.
  constexpr std::uint64_t below(std::uint64_t n) noexcept { return next() % n; }
  /// In [low, high].
  constexpr std::uint64_t between(std::uint64_t low, std::uint64_t high) noexcept {
    return low + below(high - low + 1);
  }
  constexpr bool chance(unsigned percent) noexcept { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

}  // namespace quire::sim
