// SPDX-License-Identifier: BSD-3-Clause
// How often in a row threads of this node have come for a page of the natural view in vain: some unit of it was not
// here. A row ends when the page has been granted, and nobody comes back at once. How long a try takes has no part in
// that: it is as long as messages take, or their nodes to look at them. Pure; the driver's thread; no heap.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/ids.hpp"

namespace quire::core {

class page_tries {
 public:
  static constexpr unsigned before_claim = 4;
  static constexpr unsigned most_levels = 5;
  /// A thread that has been granted a page and has not used it is back by then.
  static constexpr std::uint64_t at_once_ns = 500'000;

  /// A thread has come in vain, and wants so much. What it is time for, if it is: a claim of that level, 0 for the
  /// first of the row.
  [[nodiscard]] std::optional<unsigned> on_try(std::uint16_t region, std::uint64_t page, model::access want,
                                               std::uint64_t now_ns) noexcept {
    row& r = row_of(region, page);
    if (r.granted && now_ns - r.last_ns > at_once_ns) r.tries = r.claims = 0;
    r.granted = false;
    r.last_ns = now_ns;
    r.want = std::max(r.want, want);
    if (++r.tries < before_claim) return {};
    r.tries = 0;
    r.want = model::access::none;  // so that a thread that has given up costs no more than this claim
    return std::min(r.claims++, most_levels);
  }
  /// The page permits as much from now on.
  void on_granted(std::uint16_t region, std::uint64_t page, model::access level, std::uint64_t now_ns) noexcept {
    row* const begin = set_of(region, page);
    row* const r = std::find_if(begin, begin + ways, [&](const row& one) { return one.is_of(region, page); });
    if (r == begin + ways || level < r->want) return;  // readers are served, and who writes comes in vain
    r->granted = true;
    r->last_ns = now_ns;
  }
  /// The region goes.
  void forget(std::uint16_t region) noexcept {
    for (row& r : rows_) {
      if (r.used && r.region == region) r = {};
    }
  }

 private:
  struct row {
    std::uint64_t page = 0;
    std::uint64_t last_ns = 0;  ///< of the last try, or of the grant
    std::uint16_t region = 0;
    bool used = false;
    bool granted = false;                      ///< since the last try
    model::access want = model::access::none;  ///< the most that a try wanted
    unsigned tries = 0, claims = 0;
    [[nodiscard]] bool is_of(std::uint16_t of, std::uint64_t p) const noexcept {
      return used && region == of && page == p;
    }
  };
  /// Pages that threads come for at a time: so many of a set have a row each, whatever their numbers.
  static constexpr std::size_t ways = 16, sets_log2 = 4;

  [[nodiscard]] row* set_of(std::uint16_t region, std::uint64_t page) noexcept {
    const std::uint64_t key = std::uint64_t{region} << 48 ^ page;
    return &rows_[(key * 0x9e3779b97f4a7c15u >> (64 - sets_log2)) * ways];
  }
  /// A new one takes the place of the one that nothing has happened to for longest.
  [[nodiscard]] row& row_of(std::uint16_t region, std::uint64_t page) noexcept {
    row* const begin = set_of(region, page);
    row* oldest = begin;
    for (row* r = begin; r != begin + ways; ++r) {
      if (r->is_of(region, page)) return *r;
      if (r->last_ns < oldest->last_ns) oldest = r;
    }
    *oldest = {.page = page, .region = region, .used = true};
    return *oldest;
  }

  std::array<row, ways << sets_log2> rows_{};
};

}  // namespace quire::core
