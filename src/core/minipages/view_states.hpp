// SPDX-License-Identifier: BSD-3-Clause
// What each page of each view lets threads do, of a region with fine views. A unit may be seen by two pages of
// addresses: its own, in a fine view, and the composed one in the natural view, which shows all units of the page and
// permits what all of them permit. So what a machine believes to be mapped is an upper bound: a page of a view may
// permit less, and a thread that faults there gets it without a message. Taking away is exact: lower() finds every page
// that permits too much.
//
// Pure: the calls of the detector are a callback, f(run) -> 0 or errno. The driver's thread; no heap.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/unit_layout.hpp"
#include "model/ids.hpp"
#include "protocol/contract/table_memory.hpp"

namespace quire::core {

using model::access;

/// Neighbouring pages of one view, which permit the same.
struct view_pages {
  unsigned view = 0;
  std::uint64_t page = 0, count = 0;
  access now = access::none;
};

class view_states {
 public:
  explicit view_states(const protocol::table_memory& from) noexcept : own_(from), pages_(from) {}
  /// For `pages` pages of so many units each. 0 or errno.
  [[nodiscard]] int make(std::uint64_t pages, unsigned units_a_page) noexcept {
    units_a_page_ = units_a_page;
    const int error = own_.make(pages * units_a_page);
    return error != 0 ? error : pages_.make(pages);
  }
  void reset() noexcept {
    own_.reset();
    pages_.reset();
  }
  [[nodiscard]] bool used() const noexcept { return own_.data() != nullptr; }

  /// What the page that shows just this unit permits.
  [[nodiscard]] access own(std::uint64_t unit) const noexcept { return own_.data()[unit]; }
  /// What the composed page permits.
  [[nodiscard]] access composed(std::uint64_t page) const noexcept { return pages_.data()[page].composed; }
  void set_composed(std::uint64_t page, access now) noexcept { pages_.data()[page].composed = now; }

  /// Threads use the page as a whole, or by units: while it is used as a whole, raise() leaves the pages of its units
  /// as they are.
  void use_whole(std::uint64_t page, bool whole) noexcept { pages_.data()[page].whole = whole; }
  [[nodiscard]] bool used_whole(std::uint64_t page) const noexcept { return pages_.data()[page].whole; }

  /// Lets threads use each of these units by its own page: f(run) has what is to be raised to `to`.
  template <class F>
  int raise(const unit_layout& layout, std::uint64_t first, std::uint64_t count, access to, F&& f) noexcept {
    return each_own(layout, first, count, f, to, [&](std::uint64_t unit) {
      return layout.bytes_of(unit) != 0 && own(unit) < to &&
             (layout.view_of(unit) == 0 || !used_whole(unit / units_a_page_));
    });
  }
  /// No page that shows one of these units permits more than `to` when this returns: f(run) has what is to be lowered
  /// to it.
  template <class F>
  int lower(const unit_layout& layout, std::uint64_t first, std::uint64_t count, access to, F&& f) noexcept {
    const std::uint64_t end = (first + count - 1) / units_a_page_ + 1;
    for (std::uint64_t page = first / units_a_page_; page < end;) {
      const view_pages run{0, page, run_of_composed(page, end), composed(page)};
      if (run.now > to) {
        if (const int error = f(run); error != 0) return error;
        for (std::uint64_t p = page; p < page + run.count; ++p) set_composed(p, to);
      }
      page += run.count;
    }
    return each_own(layout, first, count, f, to, [&](std::uint64_t unit) { return own(unit) > to; });
  }
  /// All pages that show one of these units: f(run).
  template <class F>
  void for_each(std::uint64_t first, std::uint64_t count, F&& f) const noexcept {
    const std::uint64_t page = first / units_a_page_, end = (first + count - 1) / units_a_page_ + 1;
    f(view_pages{0, page, end - page, access::none});
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, units_a_page_); ++i) {
      const unsigned view = static_cast<unsigned>((first + i) % units_a_page_) + 1;
      const std::uint64_t from = (first + i) / units_a_page_;
      f(view_pages{view, from, (first + count - 1 - (first + i)) / units_a_page_ + 1, access::none});
    }
  }

 private:
  struct page_state {
    access composed : 4 = access::none;
    bool whole : 1 = false;
  };

  /// Column by column, as units of one view are on neighbouring pages: runs of the units that `wanted` says, of one
  /// view and permission.
  template <class F, class Wanted>
  int each_own(const unit_layout& layout, std::uint64_t first, std::uint64_t count, F& f, access to,
               Wanted&& wanted) noexcept {
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, units_a_page_); ++i) {
      for (std::uint64_t unit = first + i; unit < first + count;) {
        if (!wanted(unit)) {
          unit += units_a_page_;
          continue;
        }
        view_pages run{layout.view_of(unit), unit / units_a_page_, 0, own(unit)};
        const std::uint64_t begin = unit;
        for (; unit < first + count && wanted(unit) && own(unit) == run.now && layout.view_of(unit) == run.view;
             unit += units_a_page_)
          ++run.count;
        if (const int error = f(run); error != 0) return error;
        for (std::uint64_t u = begin; u < unit; u += units_a_page_) own_.data()[u] = to;
      }
    }
    return 0;
  }
  [[nodiscard]] std::uint64_t run_of_composed(std::uint64_t page, std::uint64_t end) const noexcept {
    std::uint64_t count = 1;
    while (page + count < end && composed(page + count) == composed(page)) ++count;
    return count;
  }

  protocol::table<access> own_;
  protocol::table<page_state> pages_;
  unsigned units_a_page_ = 1;
};

}  // namespace quire::core
