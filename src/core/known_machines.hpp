// SPDX-License-Identifier: BSD-3-Clause
// Parts of the core that do the work of one protocol (diffs, what is spread, parallel blocks, replicas) know its
// machines.
#pragma once

#include "core/region_slot.hpp"
#include "protocol/release/machine.hpp"
#include "protocol/sequential/machine.hpp"
#include "protocol/transaction/private_units.hpp"

namespace quire::core {

/// The region's machine, if it has release consistency; else null.
[[nodiscard]] inline release::machine* release_of(const region_slot& r) noexcept {
  return release::in_charge(r.machine.get());
}
/// The same of sequential consistency.
[[nodiscard]] inline sequential::machine* sequential_of(const region_slot& r) noexcept {
  return r.machine->protocol() == sequential::id ? static_cast<sequential::machine*>(r.machine.get()) : nullptr;
}
/// The region's machine with release consistency, in charge or not; null if it never had that.
[[nodiscard]] inline release::machine* release_made(const region_slot& r) noexcept {
  return static_cast<release::machine*>(r.made_of(release::id));
}
[[nodiscard]] inline sequential::machine* sequential_made(const region_slot& r) noexcept {
  return static_cast<sequential::machine*>(r.made_of(sequential::id));
}
[[nodiscard]] inline const transaction::private_units* transactional_made(const region_slot& r) noexcept {
  return dynamic_cast<const transaction::private_units*>(r.made_of(transaction::id));
}
/// What others may be sent of a unit whose home is here.
[[nodiscard]] inline const std::byte* as_told(region_slot& r, std::uint64_t unit) noexcept {
  return release_of(r)->kept().is_kept(unit) ? r.twin(unit) : r.system(unit);
}

}  // namespace quire::core
