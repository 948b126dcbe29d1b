// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/transaction/owners/machine.hpp"

#include "base/check.hpp"

namespace quire::transaction::owners {

using model::access;
using model::fault_outcome;

fault_outcome machine::on_fault(std::uint64_t unit, access want, model::actions& out, unsigned lost) {
  sequential::unit_state& s = table_.touch(unit);
  if (want != access::write && (s.copied == 0 || s.mapped() == access::none))
    return sequential::machine::on_fault(unit, want, out, lost);
  const bool is_new = note_write(shared_, table_.shape.region, unit, s);
  if (s.mapped() == access::none) return sequential::machine::on_fault(unit, access::read, out, lost);
  ++table_.count.local_faults;
  let_write(s, unit, is_new, out);
  return fault_outcome::local;
}

void machine::on_message(const model::message& m, model::actions& out) {
  const bool had = right_of(m.unit) != access::none, wanted = is_wanted(m.unit);
  sequential::machine::on_message(m, out);
  if (wanted && !is_wanted(m.unit)) shared_.note_came();
  if (!had || right_of(m.unit) != access::none) return;
  shared_.note_taken();
  note_copy_gone(shared_, table_.units[m.unit], unit_bytes_);
}

void machine::drop_all_copies() noexcept {
  const auto used = table_.used;
  for (std::uint64_t unit = used.first(); unit < used.end(); ++unit) {
    note_copy_gone(shared_, table_.units[unit], unit_bytes_);
  }
}

void machine::ask_to_write(std::uint64_t unit, model::actions& out) {
  if (right_of(unit) != access::write) (void)node_.on_fault(unit, access::write, out);
}

void machine::on_publish(std::uint64_t unit, model::actions& out) {
  sequential::unit_state& s = table_.touch(unit);
  CHECK(s.pinned != 0);
  s.written = 1;
  publish_copy(shared_, s, unit, unit_bytes_, out);
}

void machine::on_undo(std::uint64_t unit, model::actions& out) {
  undo_copy(shared_, table_.touch(unit), unit, unit_bytes_, out);
}

}  // namespace quire::transaction::owners
