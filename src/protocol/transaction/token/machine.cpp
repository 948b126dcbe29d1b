// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/transaction/token/machine.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "protocol/transaction/token/domain.hpp"

namespace quire::transaction::token {

using model::action_kind;
using model::actions;
using model::fault_outcome;
using model::message;
using model::message_kind;

transaction::domain& machine::as_base() const noexcept { return shared_; }

// ---- Faults

/// A write of the running transaction makes a private copy, as soon as the unit may be read.
fault_outcome machine::on_fault(std::uint64_t unit, access want, actions& out, unsigned) {
  CHECK(unit < shape_.units);
  unit_state& s = units_[unit];
  const bool is_new = want == access::write && note_write(shared_, shape_.region, unit, s);
  if (has_content(unit)) {
    ++count_.local_faults;
    if (s.mapped() != access::none && s.copied != 0) {
      let_write(s, unit, is_new, out);
      return fault_outcome::local;
    }
    permit(unit, s, out);
    out.add(action_kind::wake, unit);
    return fault_outcome::local;
  }
  s.useless = s.withhold = s.read_ahead = 0;
  if (s.pending != 0) {
    ++count_.racing_faults;
    return fault_outcome::joined;
  }
  ++count_.read_faults;
  ask(unit, s, out);
  return fault_outcome::started;
}

/// What nobody has touched is not mapped: it would be read, for all that others know, and whoever commits it would doom
/// this node's transaction.
bool machine::on_read_ahead(std::uint64_t unit, access, bool, actions& out, bool) {
  unit_state& s = units_[unit];
  if (has_content(unit) || s.pending != 0 || s.useless != 0) return false;
  ++count_.read_ahead_units;
  s.read_ahead = 1;
  s.withhold = 1;
  ask(unit, s, out);
  return true;
}

/// While the transaction is doomed nothing is mapped.
void machine::permit(std::uint64_t unit, unit_state& s, actions& out) {
  s.withhold = s.read_ahead = 0;
  if (as_base().views().is_closed() || s.mapped() != access::none) return;
  auto& a = out.add(action_kind::permit, unit);
  a.level = s.copied != 0 ? access::write : access::read;
  a.fresh = s.number == 0;
  s.set_mapped(access::read);
}

// ---- Messages

void machine::send(node_id to, message m, bool with_content, actions& out) const {
  auto& a = out.add(action_kind::send, m.unit);
  a.to = to;
  a.m = m;
  a.m.region = shape_.region;
  a.m.from = shape_.self;
  a.with_content = with_content;
}

void machine::ask(std::uint64_t unit, unit_state& s, actions& out) {
  const node_id owner = owner_of(unit);
  CHECK(owner != shape_.self);
  if (s.pending == 0) ++outstanding_;
  s.pending = 1;
  message m;
  m.kind = message_kind::version_request;
  m.unit = unit;
  m.requester = shape_.self;
  send(owner, m, false, out);
}

void machine::on_message(const message& m, actions& out) {
  switch (m.kind) {
    case message_kind::version_request:
      return on_request(m, out);
    case message_kind::version_reply:
      return on_reply(m, out);
    default:
      CHECK(!"a message of transactions that commit by the token");
  }
}

void machine::on_request(const message& m, actions& out) {
  const node_id owner = owner_of(m.unit);
  CHECK(m.requester !=
        shape_.self);  // it has asked as it has no content, and nothing it does makes it the owner without
  if (owner != shape_.self) {
    message on = m;
    return send(owner, on, false, out);
  }
  CHECK(has_content(m.unit));
  const unit_state& s = units_[m.unit];
  message r;
  r.kind = message_kind::version_reply;
  r.unit = m.unit;
  r.requester = m.requester;
  r.a = shared_.applied();
  if (s.number == 0) r.flags = model::message_flag::zero;
  send(m.requester, r, s.number != 0, out);
}

void machine::on_reply(const message& m, actions& out) {
  unit_state& s = units_[m.unit];
  CHECK(s.pending != 0 && s.arrived == 0);
  if (s.number > m.a) {
    shared_.note_stale();
    if (++s.stale == most_stale) {
      s.stale = 0;
      if (shared_.give_up()) out.add(action_kind::wake, m.unit);
    }
    return ask(m.unit, s, out);
  }
  if (m.a <= shared_.applied()) return came(m.unit, s, out);
  s.arrived = 1;
  shared_.await(m.a, shape_.region, m.unit);
}

void machine::on_reached(std::uint64_t unit, actions& out) {
  unit_state& s = units_[unit];
  CHECK(s.arrived != 0);
  came(unit, s, out);
}

void machine::came(std::uint64_t unit, unit_state& s, actions& out) {
  s.pending = s.arrived = s.stale = 0;
  --outstanding_;
  s.valid = 1;
  if (s.withhold == 0) permit(unit, s, out);
  out.add(action_kind::wake, unit);
}

// ---- Commits

void machine::on_taken(std::uint64_t unit, commit_number number, node_id by, actions& out) {
  unit_state& s = units_[unit];
  const bool had = has_content(unit);
  s.number = number;
  s.owner = by.value();
  if (!had) return;
  ++count_.invalidations;
  s.valid = 0;
  if (s.read_ahead != 0) {
    s.read_ahead = 0;
    s.useless = 1;
    ++count_.read_ahead_wasted;
  }
  shared_.note_taken();
  note_copy_gone(shared_, s, shape_.unit_bytes);
  if (s.mapped() == access::none) return;
  auto& a = out.add(action_kind::protect, unit);
  a.from = s.copied != 0 ? access::write : access::read;
  a.level = access::none;
  s.set_mapped(access::none);
}

void machine::on_publish(std::uint64_t unit, commit_number number, actions& out) {
  unit_state& s = units_[unit];
  CHECK(has_content(unit));
  s.number = number;
  s.owner = shape_.self.value();
  s.valid = 1;
  publish_copy(shared_, s, unit, shape_.unit_bytes, out);
  if (s.kept == 0) return;
  copies_first_ = copies_end_ == 0 ? unit : std::min(copies_first_, unit);
  copies_end_ = std::max(copies_end_, unit + 1);
}

void machine::drop_all_copies() noexcept {
  for (std::uint64_t unit = copies_first_; unit < copies_end_; ++unit)
    note_copy_gone(shared_, units_[unit], shape_.unit_bytes);
  copies_first_ = copies_end_ = 0;
}

bool machine::is_unit_valid(std::uint64_t unit) const noexcept {
  const unit_state& s = units_[unit];
  if (s.number > shared_.applied()) return false;
  if (has_content(unit) && s.pending != 0) return false;
  if (keeps(unit) && !has_content(unit)) return false;
  if (s.arrived != 0 && s.pending == 0) return false;
  return s.mapped() == access::none || has_content(unit);
}

}  // namespace quire::transaction::token
