// SPDX-License-Identifier: BSD-3-Clause
// Groups: units of one page that a node brings together, because its threads use them together (adaptive chunking). A
// fault that costs a message brings the unit's mates along, each of which has the node's trust or not:
//
//   3  comes along, and is mapped at once; now and then as with 2
//   2  comes along, and is withheld: the first touch of it is a fault that costs no message, and shows that it was of
//   use 1, 0  stays where it is
//
// Trust grows where a mate was of use, and where a mate that stayed was asked for soon after, within as many faults as
// a group has units; it falls where a mate was taken away before anybody used it. Reads begin with 2: groups are coarse
// at first, and become as fine as the sharing is. Writes begin with 1, as they take content away from others. What was
// of use lately in all of the region counts, too: where more than a quarter was not, pages begin with 1 that the node
// has not met, and few mates of 2 come: each that comes for nothing costs its owner a fault. Each node decides for
// itself, by what its own threads do. What comes along is a hint to the unit's machine: no protocol knows of groups.
//
// Pure: what it knows of a unit is two numbers and four marks. The driver's thread; no heap.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/unit_layout.hpp"
#include "model/fault_outcome.hpp"
#include "model/ids.hpp"
#include "protocol/contract/table_memory.hpp"

namespace quire::core {

using model::access;

/// Whether a unit of a page comes by itself, with all others of its page, or with those that experience says.
enum class grouping : std::uint8_t { none, page, adaptive };

class groups {
 public:
  static constexpr unsigned most_units = 32;  ///< of a group
  static constexpr unsigned probe_every = 8;  ///< of what is trusted most, so many come once withheld

  /// A mate: what it is to be asked for, none to leave it; and whether it is mapped when its first touch comes only.
  struct guess {
    access want = access::none;
    bool withhold = false;
  };

  explicit groups(const protocol::table_memory& from) noexcept : habits_(from) {}
  /// For `units` units. 0 or errno.
  [[nodiscard]] int make(grouping how, std::uint64_t units, unsigned units_a_page) noexcept {
    how_ = how;
    units_a_page_ = units_a_page;
    return how == grouping::adaptive ? habits_.make(units) : 0;
  }
  void reset() noexcept {
    how_ = grouping::none;
    habits_.reset();
  }
  [[nodiscard]] bool used() const noexcept { return how_ != grouping::none; }

  /// The units that a group with `unit` may have, all of its page.
  [[nodiscard]] unit_range around(std::uint64_t unit) const noexcept {
    const std::uint64_t page = unit / units_a_page_ * units_a_page_,
                        first = page + (unit - page) / most_units * most_units;
    return {first, std::min<std::uint64_t>(first + most_units, page + units_a_page_)};
  }
  /// A thread has come for a unit: was it right to bring it before, or to leave it? `had`: the node had its content.
  void on_fault(std::uint64_t unit, access want, model::fault_outcome how, bool had) noexcept {
    if (how_ != grouping::adaptive) return;
    habit& h = touch(unit);
    const bool asked_here = how == model::fault_outcome::started;
    if (asked_here) ++clock_;
    if (const access came = h.asked; came != access::none) {
      h.asked = access::none;
      const bool of_use = !asked_here || (came == access::read && want == access::write && had);
      of_use ? praise(h, came) : blame(h, came);
      if (!of_use) h.passed = access::none;
    }
    const bool soon = static_cast<std::uint16_t>(clock_ - h.passed_at) <= most_units;
    if (asked_here && h.passed == want && soon && h.of(want) < comes_withheld) h.set(want, h.of(want) + 1u);
    h.passed = access::none;
  }
  /// What to do about a mate of a unit that has just been asked for. `gone`: it is not here, nor on its way.
  [[nodiscard]] guess judge(std::uint64_t mate, access want, bool gone) noexcept {
    if (how_ == grouping::page) return {want, false};
    habit& h = touch(mate);
    if (h.asked != access::none && gone) {
      blame(h, h.asked);
      h.asked = access::none;
    }
    if (h.asked >= want) return {};
    const bool doubtful = h.of(want) == comes_withheld && credit_of(want) <= -enough && !is_drawn();
    if (h.of(want) < comes_withheld || doubtful) {
      h.passed = want;
      h.passed_at = clock_;
      return {};
    }
    return {want, h.of(want) == comes_withheld || h.turns + 1u == probe_every};
  }
  /// The machine has asked for it.
  void on_asked(std::uint64_t mate, const guess& as) noexcept {
    if (how_ != grouping::adaptive) return;
    habit& h = touch(mate);
    h.passed = access::none;
    h.asked = as.withhold ? as.want : access::none;
    h.turns = as.withhold ? 0 : h.turns + 1u;
  }

 private:
  static constexpr unsigned comes_withheld = 2, comes_mapped = 3;
  static constexpr int enough = 4, most_credit = 16, cost_of_waste = 3;

  struct habit {
    std::uint16_t touched : 1 = 0;
    std::uint16_t read : 2 = 0;  ///< trust
    std::uint16_t write : 2 = 0;
    std::uint16_t turns : 3 = 0;       ///< that it came mapped since it was withheld
    access asked : 4 = access::none;   ///< it came along, and nobody has touched it yet
    access passed : 4 = access::none;  ///< it was left when a mate came, and nobody has touched it since
    std::uint16_t passed_at = 0;       ///< then

    [[nodiscard]] unsigned of(access want) const noexcept { return want == access::write ? write : read; }
    void set(access want, unsigned trust) noexcept {
      if (want == access::write) {
        write = trust & 3u;
      } else {
        read = trust & 3u;
      }
    }
  };
  static_assert(sizeof(habit) == 4);
  habit& touch(std::uint64_t unit) noexcept {
    habit& h = habits_.data()[unit];
    if (h.touched == 0) {
      h.touched = 1;
      h.set(access::read, credit_of(access::read) > -enough ? comes_withheld : comes_withheld - 1);
      h.set(access::write, credit_of(access::write) >= enough ? comes_withheld : comes_withheld - 1);
    }
    return h;
  }
  void praise(habit& h, access came) noexcept {
    h.set(came, comes_mapped);
    credit_of(came) = std::min(credit_of(came) + 1, most_credit);
  }
  void blame(habit& h, access came) noexcept {
    h.set(came, h.of(came) == comes_mapped ? 1 : 0);
    credit_of(came) = std::max(credit_of(came) - cost_of_waste, -most_credit);
  }
  /// One of 16, in no order that accesses could have.
  [[nodiscard]] bool is_drawn() noexcept {
    draw_ = draw_ * 1664525 + 1013904223;
    return draw_ >> 28 == 0;
  }
  [[nodiscard]] int& credit_of(access came) noexcept { return came == access::write ? write_credit_ : read_credit_; }

  protocol::table<habit> habits_;
  grouping how_ = grouping::none;
  unsigned units_a_page_ = 1;
  std::uint16_t clock_ = 0;                 ///< faults that cost a message
  int read_credit_ = 0, write_credit_ = 0;  ///< mates that were of use, less those that were not
  std::uint32_t draw_ = 1;
};

}  // namespace quire::core
