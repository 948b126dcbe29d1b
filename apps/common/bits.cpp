// SPDX-License-Identifier: BSD-3-Clause
// Called once at the end of a run, on node 0.
#include "common/bits.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

namespace apps {

namespace {

template <class Value, class Bits>
bool same(const std::string& program, std::span<const Value> computed, std::span<const Value> expected,
          std::size_t columns) {
  const auto equal = [](Value a, Value b) { return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b); };
  const auto [wrong, right] = std::mismatch(computed.begin(), computed.end(), expected.begin(), expected.end(), equal);
  if (wrong == computed.end() && right == expected.end()) return true;
  if (wrong == computed.end() || right == expected.end()) {
    fmt::print(stderr, "{}: {} values instead of {}\n", program, computed.size(), expected.size());
    return false;
  }
  const auto at = static_cast<std::size_t>(wrong - computed.begin());
  fmt::print(stderr, "{}: row {}, column {} is {} instead of {}\n", program, at / columns, at % columns, *wrong,
             *right);
  return false;
}

}  // namespace

bool same_bits(const std::string& program, std::span<const double> computed, std::span<const double> expected,
               std::size_t columns) {
  return same<double, std::uint64_t>(program, computed, expected, columns);
}
bool same_bits(const std::string& program, std::span<const float> computed, std::span<const float> expected,
               std::size_t columns) {
  return same<float, std::uint32_t>(program, computed, expected, columns);
}

}  // namespace apps
