// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/transaction/domain.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "protocol/transaction/machine.hpp"

namespace quire::transaction {

namespace {
constexpr std::uint64_t page_bytes = 4096;

machine& machine_of(protocol::domain::effects& to, const written_unit& w) noexcept { return static_cast<machine&>(*to.machine_of(w.region)); }
}  // namespace

domain::domain(const protocol::job& node, effects& to)
    : to_(to), pins_(*node.pins), keeps_bytes_(node.twin_pages * page_bytes), turns_(node.self, node.nodes, to) {}

counters domain::count() const noexcept { return count_; }

progress domain::advance() {
  if (word_.now() == phase::doomed) {
    give_up_pins();
    end_commit();
    return progress::doomed;
  }
  if (!under_way_) {
    if (writes_.empty()) return progress::done;
    if (turns_.paused()) return progress::paused;
    std::ranges::sort(writes_);
    under_way_ = true;
    pins_.allow_beyond(writes_.size());
    tell_turns(true);
    word_.change(phase::committing);
  }
  while (pinned_ != writes_.size()) {
    if (pin_next()) continue;
    ++count_.waits;
    to_.perform_all();
    return progress::waits;
  }
  publish();
  end_commit();
  return progress::done;
}

/// True if that holds.
bool domain::pin_next() {
  const written_unit& w = writes_[pinned_];
  model::page_locking& pins = machine_of(to_, w).pins();
  auto outcome = model::fault_outcome::local;
  ask(w, [&] { outcome = asked_ ? pins.on_pin_again(w.unit, actions_) : pins.on_pin(w.unit, actions_); });
  CHECK(outcome != model::fault_outcome::refused && outcome != model::fault_outcome::lost);
  asked_ = true;
  if (outcome != model::fault_outcome::local) return false;
  asked_ = false;
  ++pinned_;
  if (pinned_ == 1) ask_for_all();
  return true;
}

/// Of two nodes that want the same units, who has the first one asks for the others in advance. One that is pinned before it comes stays.
void domain::ask_for_all() {
  for (std::size_t i = pinned_; i != writes_.size(); ++i) {
    ask(writes_[i], [&] { machine_of(to_, writes_[i]).ask_to_write(writes_[i].unit, actions_); });
  }
}

/// Does `f`, which may ask for the unit.
template <class F>
void domain::ask(const written_unit& w, F&& f) {
  const machine& m = machine_of(to_, w);
  const bool before = m.is_wanted(w.unit);
  actions_.clear();
  f();
  if (!before && m.is_wanted(w.unit)) ++wanted_;
  to_.perform(w.region, actions_);
}

/// In one step: who asks for one of the units waits for the end of its pin.
void domain::publish() {
  own_unmapping_ = true;
  for (const written_unit& w : writes_) {
    actions_.clear();
    machine_of(to_, w).on_publish(w.unit, actions_);
    to_.perform(w.region, actions_);
  }
  to_.perform_all();
  own_unmapping_ = false;
  ++count_.commits;
  count_.published += writes_.size();
  give_up_pins();
  writes_.clear();
  news_ = true;
}

void domain::give_up_pins() {
  for (std::size_t i = 0; i != pinned_ + (asked_ ? 1 : 0); ++i) {
    actions_.clear();
    machine_of(to_, writes_[i]).pins().on_pin_given_up(writes_[i].unit, actions_);
    to_.perform(writes_[i].region, actions_);
  }
  to_.perform_all();
  pinned_ = 0;
  asked_ = false;
}

void domain::end_commit() {
  if (!std::exchange(under_way_, false)) return;
  pins_.allow_beyond(0);
  tell_turns(wanted_ != 0);
}

void domain::undo() {
  CHECK(!under_way_);
  own_unmapping_ = true;
  for (const written_unit& w : writes_) {
    actions_.clear();
    machine_of(to_, w).on_undo(w.unit, actions_);
    to_.perform(w.region, actions_);
  }
  to_.perform_all();
  own_unmapping_ = false;
  writes_.clear();
}

bool domain::on_unmapped() noexcept {
  if (own_unmapping_ || !word_.doom()) return false;
  CHECK(!turns_.had());  // (T3)
  ++count_.dooms;
  return true;
}

bool domain::keep_copy(std::uint64_t bytes) noexcept {
  if (kept_bytes_ + bytes > keeps_bytes_) return false;
  kept_bytes_ += bytes;
  return true;
}

bool domain::on_message(const model::message& m, std::span<const std::byte>) {
  if (!turns_.on_message(m)) return false;
  if (m.kind == model::message_kind::turn_grant) ++count_.turns;
  return true;
}

bool domain::commits_in(model::region_id region) const {
  return (under_way_ || turns_.had()) && std::ranges::find(writes_, region, &written_unit::region) != writes_.end();
}

void domain::forget(model::region_id region) {
  const bool written = std::erase_if(writes_, [&](const written_unit& w) { return w.region == region; }) != 0;
  if (written && !turns_.had()) (void)on_unmapped();
}

}  // namespace quire::transaction
