// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/transaction/owners/domain.hpp"

#include "base/check.hpp"
#include "protocol/transaction/owners/machine.hpp"

namespace quire::transaction::owners {

domain::domain(const protocol::job& node) : domain_of(node), pins_(*node.pins), turns_(node.self, node.nodes) {}

progress domain::advance() {
  if (word_.now() == phase::doomed) {
    give_up_pins();
    end_commit();
    return progress::doomed;
  }
  if (!under_way_) {
    if (writes_.empty()) return progress::done;
    if (turns_.paused()) return progress::paused;
    begin_commit();
    pins_.allow_beyond(writes_.size());
    turns_.on_taking(true);
  }
  while (pinned_ != writes_.size()) {
    if (pin_next()) continue;
    ++count_.waits;
    agenda_.perform_all();
    return progress::waits;
  }
  publish();
  end_commit();
  return progress::done;
}

/// True if that holds.
bool domain::pin_next() {
  const written_unit& w = writes_[pinned_];
  model::page_locking& pins = machine_of(w).pins();
  auto outcome = model::fault_outcome::local;
  ask(w, [&] { outcome = awaits_ ? pins.on_pin_again(w.unit, actions_) : pins.on_pin(w.unit, actions_); });
  CHECK(outcome != model::fault_outcome::refused && outcome != model::fault_outcome::lost);
  awaits_ = true;
  if (outcome != model::fault_outcome::local) return false;
  awaits_ = false;
  ++pinned_;
  if (pinned_ == 1) ask_for_all();
  return true;
}

/// Of two nodes that want the same units, who has the first one asks for the others in advance. One that is pinned
/// before it comes stays.
void domain::ask_for_all() {
  for (std::size_t i = pinned_; i != writes_.size(); ++i) {
    ask(writes_[i], [&] { machine_of(writes_[i]).ask_to_write(writes_[i].unit, actions_); });
  }
}

/// Does `f`, which may ask for the unit.
template <class F>
void domain::ask(const written_unit& w, F&& f) {
  const machine& m = machine_of(w);
  const bool before = m.is_wanted(w.unit);
  actions_.clear();
  f();
  if (!before && m.is_wanted(w.unit)) ++wanted_;
  agenda_.perform(w.region, actions_);
}

/// In one step: who asks for one of the units waits for the end of its pin.
void domain::publish() {
  publish_all([this](const written_unit& w) { machine_of(w).on_publish(w.unit, actions_); });
  give_up_pins();
  writes_.clear();
}

void domain::give_up_pins() {
  for (std::size_t i = 0; i != pinned_ + (awaits_ ? 1 : 0); ++i) {
    actions_.clear();
    machine_of(writes_[i]).pins().on_pin_given_up(writes_[i].unit, actions_);
    agenda_.perform(writes_[i].region, actions_);
  }
  agenda_.perform_all();
  pinned_ = 0;
  awaits_ = false;
}

void domain::end_commit() {
  if (!under_way_) return;
  under_way_ = false;
  pins_.allow_beyond(0);
  turns_.on_taking(wanted_ != 0);
  turns_.look(agenda_);
}

void domain::end_turn() {
  turns_.end(agenda_);
  has_turn_ = false;
}

bool domain::on_message(const model::message& m, std::span<const std::byte>) {
  if (!turns_.on_message(m, agenda_)) return false;
  has_turn_ = turns_.had();
  if (m.kind == model::message_kind::turn_grant) ++count_.turns;
  return true;
}

}  // namespace quire::transaction::owners
