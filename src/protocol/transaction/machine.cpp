// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/transaction/machine.hpp"

#include "base/check.hpp"

namespace quire::transaction {

using model::access;
using model::action_kind;
using model::fault_outcome;

fault_outcome machine::on_fault(std::uint64_t unit, access want, model::actions& out, unsigned lost) {
  sequential::unit_state& s = table_.touch(unit);
  const bool is_new = s.copied == 0;
  if (want != access::write && (is_new || s.mapped() == access::none)) return sequential::machine::on_fault(unit, want, out, lost);
  if (is_new) {
    s.copied = 1;
    shared_.note_written(table_.shape.region, unit);
  }
  if (s.mapped() == access::none) return sequential::machine::on_fault(unit, access::read, out, lost);
  ++table_.count.local_faults;
  auto& a = out.add(action_kind::permit, unit);  // for one that has it already the kernel has taken the page away
  a.from = is_new ? access::read : access::none;
  a.level = access::write;
  out.add(action_kind::wake, unit);
  return fault_outcome::local;
}

void machine::on_message(const model::message& m, model::actions& out) {
  const bool had = right_of(m.unit) != access::none, wanted = is_wanted(m.unit);
  sequential::machine::on_message(m, out);
  if (wanted && !is_wanted(m.unit)) shared_.note_came();
  if (!had || right_of(m.unit) != access::none) return;
  shared_.note_taken();
  note_copy_gone(table_.units[m.unit]);
}

void machine::on_views_gone() noexcept {
  const auto used = table_.used;
  for (std::uint64_t unit = used.first(); unit < used.end(); ++unit) {
    CHECK(table_.units[unit].copied == 0);
    note_copy_gone(table_.units[unit]);
  }
}

void machine::note_copy_gone(sequential::unit_state& s) noexcept {
  if (s.kept == 0) return;
  s.kept = 0;
  shared_.drop_copy(unit_bytes_);
}

void machine::ask_to_write(std::uint64_t unit, model::actions& out) {
  if (right_of(unit) != access::write) (void)node_.on_fault(unit, access::write, out);
}

void machine::on_publish(std::uint64_t unit, model::actions& out) {
  sequential::unit_state& s = table_.touch(unit);
  CHECK(s.pinned != 0 && s.copied != 0 && s.mapped() == access::read);
  s.copied = 0;
  s.written = 1;
  out.add(action_kind::publish, unit);
  const bool keeps = s.kept != 0 || shared_.keep_copy(unit_bytes_);
  s.kept = keeps ? 1 : 0;
  auto& a = out.add(action_kind::protect, unit);
  a.from = access::write;
  a.level = keeps ? access::read : access::none;
  s.set_mapped(a.level);
}

void machine::on_undo(std::uint64_t unit, model::actions& out) {
  sequential::unit_state& s = table_.touch(unit);
  s.copied = 0;
  note_copy_gone(s);
  if (s.mapped() == access::none) return;
  auto& a = out.add(action_kind::protect, unit);
  a.from = access::write;
  a.level = access::none;
  s.set_mapped(access::none);
}

}  // namespace quire::transaction
