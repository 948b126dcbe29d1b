// SPDX-License-Identifier: BSD-3-Clause
// The transactional protocol of one region, with commits by owners: units come and go as under sequential consistency,
// but threads map them for reading only. What they write are private copies, which the node's transaction (domain.hpp)
// publishes or forgets.
#pragma once

#include <cstdint>

#include "protocol/sequential/machine.hpp"
#include "protocol/transaction/owners/domain.hpp"
#include "protocol/transaction/private_units.hpp"

namespace quire::transaction::owners {

class machine final : public sequential::machine, public private_units {
 public:
  machine(const sequential::region_shape& shape, sequential::unit_state* units, sequential::directory_entry* entries,
          domain& shared, directory::pin_table& pins, std::uint64_t unit_bytes)
      : sequential::machine(id, shape, units, entries, shared.directory().requests, pins),
        private_units(table_.count),
        shared_(shared),
        unit_bytes_(unit_bytes) {}

  /// A write of the running transaction makes a private copy, as soon as the unit may be read.
  model::fault_outcome on_fault(std::uint64_t unit, model::access want, model::actions& out,
                                unsigned lost = 0) override;
  /// Nobody asks for a unit to write it, but a commit. What nobody has touched is not mapped: it would be read, for all
  /// that others know, and whoever commits it would doom this node's transaction.
  bool on_read_ahead(std::uint64_t unit, model::access, bool, model::actions& out, bool) override {
    return sequential::machine::on_read_ahead(unit, model::access::read, true, out, false);
  }
  bool on_hint(std::uint64_t unit, model::access want, model::actions& out) override {
    return on_read_ahead(unit, want, true, out, false);
  }
  bool on_fault_around(std::uint64_t, model::actions&) override { return false; }
  void on_message(const model::message& m, model::actions& out) override;
  void on_views_gone() noexcept override { drop_all_copies(); }
  void forget() noexcept override {
    drop_all_copies();
    sequential::machine::forget();
  }

  // ---- Of the transaction
  /// It has been asked for to be written, and has not come yet.
  [[nodiscard]] bool is_wanted(std::uint64_t unit) const noexcept {
    return table_.units[unit].pending() == model::access::write;
  }
  /// A commit is going to pin the unit.
  void ask_to_write(std::uint64_t unit, model::actions& out);
  /// The unit, which is pinned, gets the content of its private copy.
  void on_publish(std::uint64_t unit, model::actions& out);
  void on_undo(std::uint64_t unit, model::actions& out);
  void on_hide(std::uint64_t unit, model::actions& out) {
    hide_unit(shared_, table_.units[unit], unit, unit_bytes_, out);
  }
  [[nodiscard]] bool is_copied(std::uint64_t u) const noexcept { return unit(u).copied != 0; }
  [[nodiscard]] bool is_kept(std::uint64_t u) const noexcept { return unit(u).kept != 0; }
  [[nodiscard]] bool is_unit_valid(std::uint64_t u) const noexcept { return is_valid(u); }

 private:
  void drop_all_copies() noexcept;

  domain& shared_;
  std::uint64_t unit_bytes_;
};

}  // namespace quire::transaction::owners
