// SPDX-License-Identifier: BSD-3-Clause
// Pages of the natural view that several nodes want at a time. A thread may use a composed page at a moment when its
// node has all units of it; two nodes that want the same page could take some of its units from each other for ever. So
// a node that comes again and again claims the page: it pins the units in ascending order, as all do, so that there is
// no circle; maps the page; and keeps it for long enough that its threads can use it. A claim that does not come to an
// end, because a program has pinned some unit itself, is given up after a while. Sequential consistency, in which units
// are taken away. Driver's thread only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/fault_heap.hpp"
#include "core/minipages/page_tries.hpp"
#include "core/region_slot.hpp"

namespace quire::core {

class core;

class whole_pages {
 public:
  explicit whole_pages(core& node) : core_(node) { claims_.reserve(64); }

  /// A thread has come for a page, and some unit of it is not here.
  void note_try(region_slot& r, std::uint64_t page, model::access want) noexcept;
  /// Threads may use the page.
  void note_granted(const region_slot& r, std::uint64_t page, model::access level) noexcept;
  /// Units have come, or may be asked for again.
  void on_woken(const region_slot& r, std::uint64_t first, std::uint64_t count) noexcept;
  /// Goes on with claims, and ends those whose time is over. True if there was anything to do.
  bool look() noexcept;
  /// Ends all: regions are about to be frozen.
  void end() noexcept;
  /// Ends those of pages that have some of these units: what is pinned then the program has pinned.
  void end(const region_slot& r, std::uint64_t first, std::uint64_t end_unit) noexcept;
  /// The region has gone, or the node leaves: nothing is to be done for its claims.
  void forget(const region_slot& r) noexcept {
    tries_.forget(r.about.id);
    std::erase_if(claims_, [&](const claim& c) { return c.region == &r; });
  }
  /// The page is claimed, and not whole yet: its threads are woken when it is, or when the claim ends.
  [[nodiscard]] bool gathers(const region_slot& r, std::uint64_t page) const noexcept {
    return std::ranges::any_of(claims_, [&](const claim& c) { return c.region == &r && c.page == page && !c.whole; });
  }
  [[nodiscard]] bool empty() const noexcept { return claims_.empty(); }

 private:
  struct claim {
    region_slot* region = nullptr;
    std::uint64_t page = 0;
    std::uint64_t first = 0, next = 0, end = 0;  ///< units; those before `next` are pinned
    bool counted = false;                        ///< the machine counts the pin of `next`
    bool ready = false;                          ///< it may go on
    bool whole = false;                          ///< all are pinned, and the page is mapped
    unsigned level = 0;                          ///< how often it was claimed in a row
    std::uint64_t until_ns = 0;                  ///< then it ends
  };
  void begin(region_slot& r, std::uint64_t page, unsigned level) noexcept;
  void go_on(claim& c) noexcept;
  void end(claim& c) noexcept;

  core& core_;
  base::fault_vector<claim> claims_{};
  page_tries tries_{};
};

}  // namespace quire::core
