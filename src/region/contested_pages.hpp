// SPDX-License-Identifier: BSD-3-Clause
// Which pages of this node's part of a heap threads of other nodes use as well, so that new objects are better put
// elsewhere: those that its own threads have waited for again and again (core/hot_units.hpp), since all that lived
// there before is gone. Objects that one thread allocates for others lie side by side; were what each of them allocates
// put between these, the page would go to and fro with each use of what is only its own.
#pragma once

#include <array>
#include <cstdint>

#include "core/hot_units.hpp"
#include "heap/heap.hpp"

namespace quire::region {

class contested_pages final : public heap::page_contest {
 public:
  /// Of the region at `base`; `hot` stays.
  contested_pages(const core::hot_units& hot, std::uint16_t region, std::uint64_t base, std::uint64_t unit_bytes)
      : hot_(hot), region_(region), base_(base), unit_bytes_(unit_bytes) {}

  bool is_on(std::uint64_t address) noexcept override {
    const std::uint64_t unit = (address - base_) / unit_bytes_, faults = hot_.faults_of(region_, unit);
    if (faults < many) return false;
    const past& p = of(unit);
    return faults - (p.unit == unit && p.faults <= faults ? p.faults : 0) >= many;
  }
  void is_over(std::uint64_t first, std::uint64_t bytes) noexcept override {
    for (std::uint64_t at = first; at < first + bytes; at += unit_bytes_) {
      const std::uint64_t unit = (at - base_) / unit_bytes_, faults = hot_.faults_of(region_, unit);
      if (faults >= many) of(unit) = {unit, faults};
    }
  }

  static constexpr std::uint64_t many = 16;  ///< faults: those of a page's first use, and of rare exchange, are fewer

 private:
  /// How often threads had waited for a unit when nothing lived there. What another one takes the place of counts anew.
  struct past {
    std::uint64_t unit = ~std::uint64_t{0}, faults = 0;
  };
  [[nodiscard]] past& of(std::uint64_t unit) noexcept { return past_[unit % past_.size()]; }

  const core::hot_units& hot_;
  const std::uint16_t region_;
  const std::uint64_t base_, unit_bytes_;
  std::array<past, 1024> past_{};
};

}  // namespace quire::region
