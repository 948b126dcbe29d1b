// SPDX-License-Identifier: BSD-3-Clause
// What a call says about the schedule of a loop, and how many iterations there are.
#pragma once

#include <cstdint>
#include <type_traits>

#include "program/omp/kmp/abi.hpp"
#include "program/omp/team/team.hpp"

namespace quire::program::kmp {

/// The numbers of libomp's kmp.h (enum sched_type).
enum kind : id {
  static_chunked = 33,
  static_even = 34,
  dynamic_chunked = 35,
  guided_chunked = 36,
  by_user = 37,  ///< schedule(runtime)
  automatic = 38,
  trapezoidal = 39,
  guided_iterative = 42,
  guided_analytical = 43,
  static_steal = 44,
  static_balanced_chunked = 45,
  guided_simd = 46,
  by_user_simd = 47,
  ordered_lower = 64,  ///< the same + 32 for ordered loops
  ordered_upper = 72,
  distribute_chunked = 91,  ///< over the teams of a league
  distribute_even = 92,
  no_merge_lower = 160,  ///< the same + 128, ordered ones too
  modifiers = 0x60000000,
};

struct requested {
  loop::schedule how;
  std::uint64_t chunk;
  bool ordered;
};
/// Of a loop that is handed out. Ends the program at a schedule that is none.
[[nodiscard]] requested requested_by(id kind, std::int64_t chunk) noexcept;

/// Bounds are inclusive.
template <class Integer>
[[nodiscard]] constexpr std::uint64_t iterations_of(Integer first, Integer last,
                                                    std::make_signed_t<Integer> step) noexcept {
  if (step > 0 ? last < first : first < last) return 0;
  const auto wide = [](auto n) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(n)); };
  const std::uint64_t way = step > 0 ? wide(last) - wide(first) : wide(first) - wide(last),
                      stride = step > 0 ? wide(step) : 0 - wide(step);
  return way / stride + 1;
}

}  // namespace quire::program::kmp
