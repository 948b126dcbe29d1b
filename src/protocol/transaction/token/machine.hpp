// SPDX-License-Identifier: BSD-3-Clause
// The transactional protocol of one region, with commits by the token: no directory. A unit is with who wrote it last,
// its owner, of which each node knows as far as it has applied commits. Who lacks a unit asks the owner; one that is it
// no longer passes the request on, to who has made a commit behind its own, so that it ends. A reply tells how many
// commits its sender had applied:
//
//   fewer than here   the content is right, unless one of those in between has written the unit: then it is stale, and
//                     asked for again
//   as many           it is right
//   more              nobody may see it before this node has applied them, too
//
// Pure, no I/O. Driver's thread.
#pragma once

#include <cstdint>
#include <utility>

#include "base/fault_heap.hpp"
#include "model/machine.hpp"
#include "protocol/transaction/private_units.hpp"
#include "protocol/transaction/token/state.hpp"

namespace quire::transaction::token {

class domain;

class machine final : public model::machine, public private_units {
 public:
  /// Who has asked for a unit, and has been told so often in a row what was overwritten by then, begins its transaction
  /// again: after some attempts it has its turn, and nobody overwrites anything.
  static constexpr unsigned most_stale = 4;

  machine(const region_shape& shape, base::fault_ptr<machine_table> own, domain& shared)
      : model::machine(id),
        private_units(count_),
        shape_(shape),
        own_(std::move(own)),
        units_(own_->units.data()),
        shared_(shared) {}

  model::fault_outcome on_fault(std::uint64_t unit, access want, model::actions& out, unsigned lost) override;
  void on_message(const model::message& m, model::actions& out) override;
  bool on_read_ahead(std::uint64_t unit, access want, bool withhold, model::actions& out, bool guessed) override;

  [[nodiscard]] std::uint64_t units() const noexcept override { return shape_.units; }
  [[nodiscard]] access mapped(std::uint64_t unit) const noexcept override { return units_[unit].mapped(); }
  [[nodiscard]] bool awaits_content(std::uint64_t unit) const noexcept override {
    return units_[unit].pending != 0 && units_[unit].arrived == 0;
  }
  [[nodiscard]] bool is_written(std::uint64_t unit) const noexcept override { return units_[unit].number != 0; }
  [[nodiscard]] bool keeps(std::uint64_t unit) const noexcept override { return owner_of(unit) == shape_.self; }
  [[nodiscard]] bool has_content(std::uint64_t unit) const noexcept override {
    return units_[unit].valid != 0 || (units_[unit].number == 0 && keeps(unit));
  }
  [[nodiscard]] node_id authority_of(std::uint64_t unit) const noexcept override { return owner_of(unit); }
  [[nodiscard]] std::uint64_t outstanding() const noexcept override { return outstanding_; }

  // ---- Of the domain
  /// A commit of another node has written the unit.
  void on_taken(std::uint64_t unit, commit_number number, node_id by, model::actions& out);
  /// This node has applied the commits that it waited for with the unit's content.
  void on_reached(std::uint64_t unit, model::actions& out);
  /// A commit of this node gives the unit the content of its private copy.
  void on_publish(std::uint64_t unit, commit_number number, model::actions& out);

  void on_undo(std::uint64_t unit, model::actions& out) {
    undo_copy(as_base(), units_[unit], unit, shape_.unit_bytes, out);
  }
  void on_hide(std::uint64_t unit, model::actions& out) {
    hide_unit(as_base(), units_[unit], unit, shape_.unit_bytes, out);
  }
  void on_views_gone() noexcept override { drop_all_copies(); }
  void forget() noexcept override { drop_all_copies(); }
  [[nodiscard]] bool is_copied(std::uint64_t unit) const noexcept { return units_[unit].copied != 0; }
  [[nodiscard]] bool is_kept(std::uint64_t unit) const noexcept { return units_[unit].kept != 0; }
  [[nodiscard]] bool is_unit_valid(std::uint64_t unit) const noexcept;
  [[nodiscard]] const unit_state& unit(std::uint64_t u) const noexcept { return units_[u]; }
  [[nodiscard]] node_id owner_of(std::uint64_t unit) const noexcept {
    return units_[unit].number != 0 ? node_id{units_[unit].owner} : shape_.managers.of(unit);
  }

 private:
  [[nodiscard]] transaction::domain& as_base() const noexcept;
  void ask(std::uint64_t unit, unit_state& s, model::actions& out);
  void send(node_id to, model::message m, bool with_content, model::actions& out) const;
  void permit(std::uint64_t unit, unit_state& s, model::actions& out);
  void on_request(const model::message& m, model::actions& out);
  void on_reply(const model::message& m, model::actions& out);
  void came(std::uint64_t unit, unit_state& s, model::actions& out);
  void drop_all_copies() noexcept;

  region_shape shape_;
  base::fault_ptr<machine_table> own_;
  unit_state* units_;
  domain& shared_;
  std::uint64_t outstanding_ = 0;
  std::uint64_t copies_first_ = 0, copies_end_ = 0;  ///< private copies that were published lie within
  sequential::counters count_{};
};

}  // namespace quire::transaction::token
