// SPDX-License-Identifier: BSD-3-Clause
// Units that threads map for reading only, and write in private copies: what machines of transactional regions have in
// common, however transactions commit. A unit's state says of its copy: `copied`, the running transaction has written
// it; `kept`, what was published stays there, too; mapped(). Driver's thread.
#pragma once

#include <cstdint>

#include "model/action.hpp"
#include "protocol/sequential/state.hpp"
#include "protocol/transaction/domain.hpp"

namespace quire::transaction {

/// What a machine of a transactional region is besides, of either kind. Such a machine has besides:
///
///   on_undo(unit, out)   the unit's private copy goes, or will not come to be
///   on_hide(unit, out)   a transaction that has mapped it is over: the next access is to be noticed. Not of one that
///                        the running transaction has written
///   is_copied(unit)      the running transaction has written it
///   is_kept(unit)        the private copy of an earlier one is still there
///   is_unit_valid(unit)  what must hold for one unit on this node alone
class private_units {
 public:
  [[nodiscard]] const sequential::counters& all_counts() const noexcept { return counts_; }

 protected:
  explicit private_units(const sequential::counters& counts) noexcept : counts_(counts) {}
  private_units(const private_units&) = delete;
  private_units& operator=(const private_units&) = delete;
  ~private_units() = default;

 private:
  const sequential::counters& counts_;
};

/// The running transaction writes the unit. True if it has not before.
template <class Unit>
bool note_write(domain& shared, model::region_id region, std::uint64_t unit, Unit& s) {
  if (s.copied != 0) return false;
  s.copied = 1;
  shared.note_written(region, unit);
  return true;
}

/// It is mapped, and may be written from now on. For one that could be written before the kernel has taken the page
/// away.
template <class Unit>
void let_write(const Unit& s, std::uint64_t unit, bool is_new, model::actions& out) {
  CHECK(s.copied != 0 && s.mapped() == model::access::read);
  auto& a = out.add(model::action_kind::permit, unit);
  a.from = is_new ? model::access::read : model::access::none;
  a.level = model::access::write;
  out.add(model::action_kind::wake, unit);
}

/// The view does not show the private copy any more.
template <class Unit>
void note_copy_gone(domain& shared, Unit& s, std::uint64_t unit_bytes) noexcept {
  if (s.kept == 0) return;
  s.kept = 0;
  shared.drop_copy(unit_bytes);
}

/// The frame gets the content of the private copy.
template <class Unit>
void publish_copy(domain& shared, Unit& s, std::uint64_t unit, std::uint64_t unit_bytes, model::actions& out) {
  CHECK(s.copied != 0 && s.mapped() == model::access::read);
  s.copied = 0;
  out.add(model::action_kind::publish, unit);
  const bool keeps = s.kept != 0 || shared.keep_copy(unit_bytes);
  s.kept = keeps ? 1 : 0;
  auto& a = out.add(model::action_kind::protect, unit);
  a.from = model::access::write;
  a.level = keeps ? model::access::read : model::access::none;
  s.set_mapped(a.level);
}

/// It is mapped no longer; its content stays here.
template <class Unit>
void hide_unit(domain& shared, Unit& s, std::uint64_t unit, std::uint64_t unit_bytes, model::actions& out) {
  if (s.mapped() == model::access::none) return;
  CHECK(s.copied == 0);
  note_copy_gone(shared, s, unit_bytes);
  auto& a = out.add(model::action_kind::protect, unit);
  a.from = model::access::read;
  a.level = model::access::none;
  s.set_mapped(model::access::none);
}

/// What was written into the private copy is forgotten.
template <class Unit>
void undo_copy(domain& shared, Unit& s, std::uint64_t unit, std::uint64_t unit_bytes, model::actions& out) {
  s.copied = 0;
  note_copy_gone(shared, s, unit_bytes);
  if (s.mapped() == model::access::none) return;
  auto& a = out.add(model::action_kind::protect, unit);
  a.from = model::access::write;
  a.level = model::access::none;
  s.set_mapped(model::access::none);
}

}  // namespace quire::transaction
