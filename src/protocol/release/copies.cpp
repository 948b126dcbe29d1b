// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/release/copies.hpp"

namespace quire::release {

using model::action_kind;
using model::message_kind;
namespace message_flag = model::message_flag;

// ---- Faults and hints of threads

fault_outcome copies::on_fault(std::uint64_t unit, access want, actions& out) {
  unit_state& s = table_.touch(unit);
  if (table_.is_lost(unit)) return fault_outcome::lost;
  if (s.is_home != 0 || s.valid != 0) {
    ++table_.count.local_faults;
    rights_.allow(unit, s, want, out);
    if (want == access::write) rights_.note_write(unit, s);
    out.add(action_kind::wake, unit);
    return fault_outcome::local;
  }
  s.useless = s.withhold = s.read_ahead = 0;
  if (s.pending() != access::none) {
    ++table_.count.racing_faults;
    if (want == access::write) s.set_pending(want);
    return fault_outcome::joined;
  }
  ++(want == access::write ? table_.count.write_faults : table_.count.read_faults);
  ask(unit, s, want, out);
  return fault_outcome::started;
}

/// Comes to be read, whatever it is wanted for: a unit that is mapped for writing counts as written.
bool copies::on_read_ahead(std::uint64_t unit, bool withhold, actions& out) {
  unit_state& s = table_.touch(unit);
  if (table_.is_lost(unit)) return false;
  if (s.is_home != 0 || s.valid != 0 || s.pending() != access::none || s.pin_data != 0 || s.useless != 0) return false;
  ++table_.count.read_ahead_units;
  s.read_ahead = 1;
  s.withhold = withhold ? 1 : 0;
  ask(unit, s, access::read, out);
  return true;
}

/// What a thread will write counts as written, and is made ready for it: a fault less.
bool copies::on_hint(std::uint64_t unit, access want, actions& out) {
  unit_state& s = table_.touch(unit);
  if (table_.is_lost(unit)) return false;
  if (s.is_home != 0 || s.valid != 0) {
    if (s.mapped() >= want) return false;
    rights_.allow(unit, s, want, out);
    return true;
  }
  if (!on_read_ahead(unit, false, out)) return false;
  s.set_pending(want);
  return true;
}

bool copies::on_fault_around(std::uint64_t unit, actions& out) {
  unit_state& s = table_.touch(unit);
  if ((s.is_home == 0 && s.valid == 0) || s.mapped() != access::none || table_.is_lost(unit)) return false;
  rights_.allow(unit, s, access::read, out);
  return true;
}

void copies::ask(std::uint64_t unit, unit_state& s, access want, actions& out, std::uint8_t flags) {
  CHECK(s.asked == 0);
  if (s.pending() == access::none) ++table_.outstanding;
  s.set_pending(want);
  if (s.pin_data != 0) return;  // it is on its way
  s.asked = 1;
  message m;
  m.kind = message_kind::copy_request;
  m.flags = flags;
  m.unit = unit;
  m.requester = table_.shape.self;
  table_.send_home(m, out);
}

void copies::arrived(std::uint64_t unit, unit_state& s, actions& out) {
  const access want = s.pending();
  s.set_pending(access::none);
  --table_.outstanding;
  const bool unasked = s.read_ahead != 0;
  if (s.withhold == 0)
    rights_.allow(unit, s, want, out);  // read-ahead that is mapped at once can no longer be told from used
  if (want == access::write && !unasked) rights_.note_write(unit, s);
  out.add(action_kind::wake, unit);
}

// ---- What comes

void copies::on_copy_reply(const message& m, actions& out) {
  unit_state& s = table_.touch(m.unit);
  s.asked = 0;
  if (s.pending() == access::none || s.is_home != 0) return;
  table_.believe(s, m.from, static_cast<std::uint16_t>(m.a));
  if ((m.flags & message_flag::zero) == 0) s.written = 1;
  const bool is_base = (m.flags & message_flag::base) != 0;
  const bool news = s.stale != 0 || s.follows != 0;
  if (is_stale(s, m.from) || (is_base && news)) {
    ++table_.count.stale_replies;
    return ask(m.unit, s, s.pending(), out);
  }
  s.valid = 1;
  s.follows = is_base ? 0 : 1;
  s.source = m.from;
  s.version = s.follows != 0 ? static_cast<std::uint32_t>(m.b) : no_version;
  arrived(m.unit, s, out);
}

/// A home has what it told of before it sent the content, and a pair of nodes keeps its order (I5): only news that
/// others told may be missing.
void copies::note_news(unit_state& s, node_id teller) noexcept {
  const bool covered = s.stale == 0 && (s.follows == 0 || s.source == teller);
  s.stale = covered ? 0 : 1;
  s.follows = covered ? 1 : 0;
  if (covered) s.source = teller;
}

bool copies::is_stale(unit_state& s, node_id from) noexcept {
  const bool stale = s.stale != 0 || (s.follows != 0 && s.source != from);
  s.stale = s.follows = 0;
  return stale;
}

/// Threads that write it now fault, and wait for the content that has their writes.
void copies::take_copy(std::uint64_t unit, unit_state& s, actions& out) {
  table_.protect(unit, s, access::none, out);
  if (s.twin != 0) rights_.send_diff(unit, s, false, out);
  s.valid = s.follows = 0;
  s.version = no_version;
}

void copies::on_notice(std::uint64_t unit, node_id writer, std::uint32_t interval, node_id teller, actions& out) {
  unit_state& s = table_.checked ? table_.touch(unit) : table_.units[unit];
  if (s.touched != 0) rights_.tell_base(unit, s, out);
  if (s.touched == 0 || s.is_home != 0) return;
  if (home_updates::follows_home(s) && writer == s.source && interval <= s.version) return;  // the copy has it
  if (table_.checked) {
    s.news = 1;
    return;
  }
  if (s.pending() != access::none || s.pin_data != 0) note_news(s, teller);
  if (s.valid == 0) return;
  if (table_.open.recovering) {  // what was changed in it waits for its home
    s.news = 1;
    return table_.protect(unit, s, access::none, out);
  }
  take_copy(unit, s, out);
  ++table_.count.invalidations;
  note_unused(s);
}

/// The unit goes. What read-ahead has brought and nobody has touched is not read ahead again.
void copies::note_unused(unit_state& s) noexcept {
  if (s.read_ahead == 0) return;
  s.read_ahead = 0;
  s.useless = 1;
  ++table_.count.read_ahead_wasted;
}

void copies::on_release(std::uint64_t unit, actions& out) {
  unit_state& s = table_.touch(unit);
  s.listed = 0;
  if (s.is_home != 0) {
    rights_.tell_base(unit, s, out);
    table_.lone.note_release(unit, s, table_.open.epochs);
    s.shared = 0;  // the notice takes away all copies there are
    s.current.clear();
  } else if (s.twin != 0) {
    const bool keeps = table_.shape.scans || s.kept != 0 || (kept_.may_keep(s) && s.steady != 0);
    s.steady = 1;
    if (!keeps) table_.protect(unit, s, access::read, out);
    rights_.send_diff(unit, s, keeps, out);
    if (keeps && !table_.shape.scans) kept_.keep(unit, s);
  }
}

void copies::on_twins_short(std::uint64_t unit, actions& out) {
  unit_state& s = table_.touch(unit);
  rights_.tell_base(unit, s, out);
  if (s.twin == 0 || s.is_home != 0 || s.declared != 0 || table_.shape.scans) return;
  table_.protect(unit, s, access::read, out);
  rights_.send_diff(unit, s, false, out);
}

}  // namespace quire::release
