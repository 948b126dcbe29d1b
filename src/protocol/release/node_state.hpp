// SPDX-License-Identifier: BSD-3-Clause
// What the parts of a release node share: the open interval, the regions that there are, what is under way, and the
// action that is to be performed next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/action.hpp"
#include "protocol/contract/domain_action.hpp"
#include "protocol/contract/known_regions.hpp"
#include "protocol/release/agenda.hpp"
#include "protocol/release/interval.hpp"
#include "protocol/release/machine.hpp"

namespace quire::release {

struct node_counters {
  std::uint64_t releases = 0;      ///< intervals that ended
  std::uint64_t acquires = 0;      ///< that had something to invalidate
  std::uint64_t notices_sent = 0;  ///< runs of units
  std::uint64_t notices_heard = 0;
  std::uint64_t early_diffs = 0;  ///< sent before the release, for want of twins
  std::uint64_t told_early = 0;   ///< messages that left while diffs were on their way to their receivers
  std::uint64_t kept_back = 0;    ///< messages that came while diffs of their senders were passed on
};

struct node_state {
  using action = protocol::domain_action;
  explicit node_state(node_id of) noexcept : self(of) {}

  const node_id self;
  interval open{};
  node_counters count{};
  protocol::known_regions<machine> regions{};
  release::agenda agenda{};
  actions step{};        ///< of one unit; for whoever needs it next
  bool differs = false;  ///< the answer to action::kind::compare

  [[nodiscard]] machine* machine_of(model::region_id region) const noexcept { return regions.machine_of(region); }

  // What a task wants done before it goes on.
  void perform(model::region_id region) noexcept {
    next_ = {.what = action::kind::perform, .region = region, .list = &step};
    asks_ = true;
  }
  void perform_all() noexcept { ask(action::kind::perform_all); }
  void transmit(node_id to, const model::message& m, std::span<const std::byte> value) noexcept {
    next_ = {.what = action::kind::transmit, .to = to, .m = m, .value = value};
    asks_ = true;
  }
  void hear(const model::message& m, std::span<const std::byte> value) noexcept {
    next_ = {.what = action::kind::hear, .m = m, .value = value};
    asks_ = true;
  }
  void leave_back(node_id to, const model::message& m, std::span<const std::byte> value, model::edge edge) noexcept {
    next_ = {.what = action::kind::left_back, .to = to, .edge = edge, .m = m, .value = value};
    asks_ = true;
  }
  void compare(const written_unit& w) noexcept {
    next_ = {.what = action::kind::compare, .region = w.region, .unit = w.unit};
    asks_ = true;
  }
  void look_at_sends() noexcept { ask(action::kind::look_at_sends); }
  void tell_released() noexcept { ask(action::kind::released); }
  void tell_interval(std::uint32_t number, std::uint64_t releases) noexcept {
    next_ = {.what = action::kind::interval, .number = number, .releases = releases};
    asks_ = true;
  }
  void tell_acquired(std::span<const std::uint32_t> known) noexcept {
    next_ = {.what = action::kind::acquired, .known = known};
    asks_ = true;
  }
  /// What has been asked for since; null: nothing.
  [[nodiscard]] const action* take() noexcept {
    const bool asks = asks_;
    asks_ = false;
    return asks ? &next_ : nullptr;
  }

 private:
  void ask(action::kind what) noexcept {
    next_ = {.what = what};
    asks_ = true;
  }

  action next_{};
  bool asks_ = false;
};

}  // namespace quire::release
