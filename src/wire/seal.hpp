// SPDX-License-Identifier: BSD-3-Clause
// The number that stands before each message: another one each time, from a sequence that sender and receiver of a pair
// follow in step. A stranger does not know it, and a message that comes a second time has a number that is over. Kept
// by the transports, one for each direction of each pair; a few instructions, any context.
#pragma once

#include <cstdint>

#include "base/siphash.hpp"
#include "wire/wire.hpp"

namespace quire::wire {

class seal_sequence {
 public:
  seal_sequence() noexcept = default;
  seal_sequence(const base::secret& job, model::node_id from, model::node_id to) noexcept {
    const struct {
      std::uint64_t what;
      std::uint32_t from, to;
    } pair{mark, from.value(), to.value()};
    at_ = base::siphash_of(job, pair);
  }

  /// The number of the next message.
  [[nodiscard]] std::uint64_t peek(unsigned ahead = 0) const noexcept { return mixed(at_ + (ahead + 1) * step); }
  void advance() noexcept { at_ += step; }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15;
  /// Of splitmix64: each bit of the result depends on each of the state.
  static constexpr std::uint64_t mixed(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t at_ = 0;
};

}  // namespace quire::wire
