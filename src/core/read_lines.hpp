// SPDX-License-Identifier: BSD-3-Clause
// Read-ahead for what goes along many lines at a time: an array of planes that is read by rows or by columns asks for
// one unit of each plane, then for the next one of each. To read_ahead.hpp, which knows a few sweeps, each fault is the
// first of a new one. Here the end of a line is looked up instead: whoever asks for the unit behind it goes on with the
// line, and gets as much ahead as the line has had so far. Where lines end is not known: of what comes ahead some units
// are not mapped, so that those that nobody touches are not asked for again. Pure; one for all threads of a node.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/read_ahead.hpp"
#include "model/ids.hpp"

namespace quire::core {

class read_lines {
 public:
  static constexpr std::uint64_t most_ahead = 64;  ///< units

  /// A fault that belongs to no sweep has asked another node for `unit` of a region of `units`. What to ask for behind
  /// it, at most `most` units.
  read_ahead_plan on_fault(model::region_id region, std::uint64_t unit, std::uint64_t units,
                           std::uint64_t most) noexcept {
    const std::uint64_t length = take(place_of(region, unit));
    const std::uint64_t count = std::min({length, most, most_ahead, units - unit - 1});
    const std::uint64_t end = place_of(region, unit + 1 + count);
    slot_of(end) = {end, length + 1 + count};
    return {
        .first = unit + 1, .count = count, .withhold_all = length < read_ahead::trusted_window, .withhold_some = true};
  }

 private:
  struct line {
    std::uint64_t end = 0;  ///< place of the unit behind the last one that was asked for
    std::uint64_t length = 0;
  };
  static constexpr unsigned slot_bits = 11;
  [[nodiscard]] static std::uint64_t place_of(model::region_id region, std::uint64_t unit) noexcept {
    return (std::uint64_t{region.value()} + 1) << 48 | unit;
  }
  line& slot_of(std::uint64_t place) noexcept { return lines_[place * 0x9e3779b97f4a7c15u >> (64 - slot_bits)]; }
  /// The length of the line that ends there, which goes on now.
  std::uint64_t take(std::uint64_t place) noexcept {
    line& l = slot_of(place);
    if (l.end != place) return 0;
    const std::uint64_t length = l.length;
    l = {};
    return length;
  }

  std::array<line, 1u << slot_bits> lines_{};
};

}  // namespace quire::core
