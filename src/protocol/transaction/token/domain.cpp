// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/transaction/token/domain.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "protocol/transaction/token/machine.hpp"

namespace quire::transaction::token {

using model::message;
using model::message_kind;
using model::node_id;

domain::domain(const protocol::job& node)
    : domain_of(node), self_(node.self), nodes_(node.nodes), passing_(node.self), arrivals_(node.nodes) {
  told_.resize(node.nodes);
  known_.resize(node.nodes);
}

const protocol::domain_action* domain::next(std::size_t left) {
  return agenda_.next(left, [this](agenda::step s) { go_on(s); });
}

void domain::go_on(agenda::step s) {
  if (then{s.what} == then::apply) {
    on_applied();
    return apply_next();
  }
  arrivals_.on_heard(s.of);
  hear_next();
}

// ---- Commits of this node

progress domain::advance() {
  if (word_.now() == phase::doomed) {
    end_commit();
    return progress::doomed;
  }
  if (!under_way_) {
    if (writes_.empty()) return progress::done;
    begin_commit();
    passing_.ask(agenda_);
    if (!may_commit()) ++count_.waits;
  }
  if (!may_commit()) return progress::paused;
  publish();
  send_write_set();
  writes_.clear();
  end_commit();
  return progress::done;
}

/// In one step: content that leaves from now on is of this commit.
void domain::publish() {
  const commit_number number = applied_ + 1;
  publish_all([&](const written_unit& w) { machine_of(w).on_publish(w.unit, number, actions_); });
  passing_.count_commit();
  applied_ = number;
}

void domain::send_write_set() {
  runs_.clear();
  for (const written_unit& w : writes_) add(runs_, w, life_of(w.region));
  message m;
  m.kind = message_kind::write_set;
  m.from = m.requester = self_;
  m.a = applied_;
  for (std::size_t first = 0; first < runs_.size(); first += write_sets::most_runs) {
    const auto part = std::span(runs_).subspan(first, std::min(write_sets::most_runs, runs_.size() - first));
    m.b = first + part.size() == runs_.size() ? 1 : 0;
    m.payload_bytes = static_cast<std::uint32_t>(part.size_bytes());
    for (unsigned n = 0; n < nodes_; ++n) {
      const node_id to{static_cast<std::uint16_t>(n)};
      if (to == self_) continue;
      agenda_.transmit(to, m, std::as_bytes(part));
      told_[n] = applied_;
    }
  }
}

void domain::end_commit() {
  under_way_ = false;
  if (!wants_turn_ && !has_turn()) passing_.end(agenda_);
}

// ---- Turns

void domain::ask_turn() {
  wants_turn_ = true;
  passing_.ask(agenda_);
  look_for_turn();
}

void domain::look_for_turn() {
  if (!wants_turn_ || !may_commit()) return;
  wants_turn_ = false;
  has_turn_ = true;
  ++count_.turns;
}

void domain::end_turn() {
  CHECK(has_turn() && !under_way_);
  has_turn_ = false;
  passing_.end(agenda_);
}

// ---- Commits of others

bool domain::on_message(const message& m, std::span<const std::byte> value) {
  switch (m.kind) {
    case message_kind::write_set:
      return on_write_set(m, value);
    case message_kind::commits_known:
      arrivals_.on_told(m.from, m.a);
      note_applied(m.from, m.a);
      return true;
    default:
      if (!passing_.on_message(m, agenda_)) return false;
      look_for_turn();
      return true;
  }
}

bool domain::on_write_set(const message& m, std::span<const std::byte> value) {
  if (!sets_.on_part(m, value, applied_)) return false;
  for (std::size_t at = 0; at < value.size(); at += sizeof(written_run)) {
    written_run r;
    std::memcpy(&r, value.data() + at, sizeof r);
    if (!may_be(r)) return false;
  }
  arrivals_.on_told(m.from, m.a);
  note_applied(m.from, m.a);
  if (applies_.number == 0) apply_next();
  return true;
}

/// Units are unmapped, and the transaction is doomed, before anybody here may count on the commit.
void domain::apply_next() {
  applies_.number = 0;
  if (sets_.take(applied_ + 1, applies_)) return take_units();
  look_for_turn();
  hear_next();
}

bool domain::may_be(const written_run& r) const noexcept {
  const machine* const units = machine_of(model::region_id{r.region});
  if (units == nullptr || life_of(model::region_id{r.region}) != r.life) return true;
  return r.first < units->units() && r.count <= units->units() - r.first;
}

void domain::take_units() {
  for (const written_run& r : applies_.runs) {
    const model::region_id region{r.region};
    machine* const units = machine_of(region);
    if (units == nullptr || life_of(region) != r.life) continue;  // it is gone, or nobody uses it any more
    CHECK(may_be(r));
    for (std::uint64_t unit = r.first; unit < r.first + r.count; ++unit) {
      actions_.clear();
      units->on_taken(unit, applies_.number, applies_.by, actions_);
      agenda_.perform(region, actions_);
    }
  }
  agenda_.perform_all();
  agenda_.go_on({static_cast<std::uint8_t>(then::apply), {}});
}

void domain::on_applied() {
  applied_ = applies_.number;
  map_early();
  if (applied_ % told_every == 0) tell_all();
}

/// What has waited for commits, one message at a time: it may tell of what comes next.
void domain::hear_next() {
  arrivals::kept waited;
  if (!arrivals_.take(applied_, waited)) return;
  agenda_.admit(waited.m, waited.value);
  agenda_.go_on({static_cast<std::uint8_t>(then::hear), waited.m.from});
}

/// Of units that have come from nodes ahead of this one.
void domain::map_early() {
  for (const early_unit& e : early_) {
    machine* const units = e.number == applied_ ? machine_of(e.region) : nullptr;
    if (units == nullptr) continue;
    actions_.clear();
    units->on_reached(e.unit, actions_);
    agenda_.perform(e.region, actions_);
  }
  if (std::erase_if(early_, [this](const early_unit& e) { return e.number == applied_; }) != 0) agenda_.perform_all();
}

void domain::forget(model::region_id region) {
  domain_of::forget(region);
  std::erase_if(early_, [region](const early_unit& e) { return e.region == region; });
}

// ---- Nodes that are slower than others

commit_number domain::slowest() const noexcept {
  commit_number least = ~commit_number{0};
  for (unsigned n = 0; n < nodes_; ++n) {
    if (n != self_.value()) least = std::min(least, known_[n]);
  }
  return least;
}

void domain::note_applied(node_id by, commit_number number) noexcept {
  known_[by.value()] = std::max(known_[by.value()], number);
  look_for_turn();
}

void domain::tell_all() {
  for (unsigned n = 0; n < nodes_; ++n) tell(node_id{static_cast<std::uint16_t>(n)});
}

bool domain::give_up() noexcept {
  if (has_turn() || word_.now() != phase::running || !word_.doom()) return false;
  ++count_.dooms;
  return true;
}

// ---- Messages that synchronise threads

void domain::tell(node_id to) {
  if (to == self_ || told_[to.value()] >= applied_) return;
  told_[to.value()] = applied_;
  message m;
  m.kind = message_kind::commits_known;
  m.from = m.requester = self_;
  m.a = applied_;
  agenda_.transmit(to, m);
}

bool domain::waits(const message& m, std::span<const std::byte> value) {
  const bool own = m.kind >= message_kind::write_set && m.kind <= message_kind::token;
  return !own && m.from != self_ && arrivals_.keeps_back(m, value, applied_);
}

}  // namespace quire::transaction::token
