// SPDX-License-Identifier: BSD-3-Clause
#include "core/minipages/whole_pages.hpp"

#include "core/core.hpp"
#include "core/fault.hpp"
#include "core/pins.hpp"
#include "model/action.hpp"

namespace quire::core {

namespace {
constexpr std::uint64_t shortest_use_ns = 30'000;  // a thread needs so long to wake up and go on
constexpr std::uint64_t patience_ns =
    5'000'000;  // of who has pinned some units, with the next; twice as long with each level
constexpr std::uint64_t for_ever = ~std::uint64_t{0};
}  // namespace

void whole_pages::note_try(region_slot& r, std::uint64_t page, model::access want) noexcept {
  if (!r.can().pins || r.can().relaxed) return;
  if (const auto level = tries_.on_try(r.about.id, page, want, core_.now())) begin(r, page, *level);
}

void whole_pages::note_granted(const region_slot& r, std::uint64_t page, model::access level) noexcept {
  if (!r.can().relaxed) tries_.on_granted(r.about.id, page, level, core_.now());
}

void whole_pages::begin(region_slot& r, std::uint64_t page, unsigned level) noexcept {
  if (std::ranges::any_of(claims_, [&](const claim& c) { return c.region == &r && c.page == page; })) return;
  const unit_range all = r.layout.under(page * view_map::page_bytes, view_map::page_bytes);
  claims_.push_back({&r, page, all.first, all.first, all.end, false, true, false, level, for_ever});
}

/// Within a step perhaps: the claim goes on after it.
void whole_pages::on_woken(const region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  for (claim& c : claims_) c.ready = c.ready || (c.region == &r && c.next - first < count);
}

bool whole_pages::look() noexcept {
  bool any = false;
  for (std::size_t i = 0; i < claims_.size();) {
    claim& c = claims_[i];
    if (c.ready && !c.whole && !c.region->change.frozen) {
      any = true;
      go_on(c);
    }
    if (core_.now() < c.until_ns || c.region->change.frozen) {
      ++i;
      continue;
    }
    any = true;
    claim over = c;
    claims_[i] = claims_.back();
    claims_.pop_back();
    end(over);
  }
  return any;
}

void whole_pages::go_on(claim& c) noexcept {
  using model::fault_outcome;
  region_slot& r = *c.region;
  c.ready = false;
  while (c.next != c.end) {
    core_.actions.clear();
    const auto outcome = c.counted ? r.machine->pins().on_pin_again(c.next, core_.actions)
                                   : r.machine->pins().on_pin(c.next, core_.actions);
    core_.take_step(r);
    c.counted = outcome != fault_outcome::refused;
    if (outcome == fault_outcome::refused || outcome == fault_outcome::lost) c.until_ns = 0;  // no more of it
    if (outcome != fault_outcome::local) return core_.perform_steps();
    ++c.next;
    c.counted = false;
    c.until_ns = core_.now() + (patience_ns << c.level);
  }
  core_.perform_steps();
  c.whole = true;
  c.until_ns = core_.now() + (shortest_use_ns << c.level);
  // Less than writing where content is on two nodes, and has just been saved: the next write is to be noticed.
  core_.faults.compose(r, c.page, model::access::read);
  core_.faults.wake_units(r, c.first, c.end - c.first);
}

void whole_pages::end(claim& c) noexcept {
  region_slot& r = *c.region;
  for (std::uint64_t unit = c.first; unit < c.next; ++unit) {
    core_.actions.clear();
    CHECK(r.machine->pins().on_unpin(unit, core_.actions));
    core_.take_step(r);
  }
  if (c.counted) {
    core_.actions.clear();
    r.machine->pins().on_pin_given_up(c.next, core_.actions);
    core_.take_step(r);
  }
  core_.perform_steps();
  if (!c.whole) core_.faults.wake_units(r, c.first, c.end - c.first);
}

void whole_pages::end() noexcept {
  while (!claims_.empty()) {
    claim last = claims_.back();
    claims_.pop_back();
    end(last);
  }
}

void whole_pages::end(const region_slot& r, std::uint64_t first, std::uint64_t end_unit) noexcept {
  for (std::size_t i = 0; i < claims_.size();) {
    claim over = claims_[i];
    if (over.region != &r || over.end <= first || over.first >= end_unit) {
      ++i;
      continue;
    }
    claims_[i] = claims_.back();
    claims_.pop_back();
    end(over);
  }
}

}  // namespace quire::core
