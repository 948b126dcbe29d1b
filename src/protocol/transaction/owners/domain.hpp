// SPDX-License-Identifier: BSD-3-Clause
// Commits by owners: units that were written are pinned by the directory of the sequential protocol, in ascending order
// (region, unit). A pin holds when no other node has a copy any more: who has read there is doomed by then. With all
// pins the writes are published in one step, and the pins end. (Scalable TCC, Chafi et al. 2007)
//
// (T1) holds as no other node has a copy of a unit that is published; (T2), as no body of a program runs while pins are
// held, and they are taken in one order; (T3), by turns.hpp.
#pragma once

#include "protocol/sequential/domain.hpp"
#include "protocol/transaction/domain.hpp"
#include "protocol/transaction/owners/turns.hpp"

namespace quire::transaction::owners {

class machine;

class domain final : public transaction::domain {
 public:
  domain(const protocol::job& node, effects& to);

  [[nodiscard]] progress advance() override;
  [[nodiscard]] const written_unit& next() const noexcept override { return writes_[pinned_]; }
  [[nodiscard]] bool awaits_unit() const noexcept override { return asked_; }
  /// Another node has its turn.
  [[nodiscard]] bool is_paused() const noexcept override { return turns_.paused(); }
  void ask_turn() override { turns_.ask(); }
  void end_turn() override { turns_.end(); }
  [[nodiscard]] bool has_turn() const noexcept override { return turns_.had(); }

  [[nodiscard]] bool on_message(const model::message& m, std::span<const std::byte> value) override;
  [[nodiscard]] bool commits() const override { return under_way_ || wanted_ != 0; }
  [[nodiscard]] bool busy() const override { return turns_.busy(); }

  // ---- Of machines
  [[nodiscard]] sequential::domain& directory() noexcept { return directory_; }
  /// A unit that a commit had asked for.
  void note_came() { tell_turns(--wanted_ != 0 || under_way_); }

 private:
  [[nodiscard]] private_units& units_of(model::region_id region) noexcept override;
  [[nodiscard]] machine& machine_of(const written_unit& w) const noexcept;
  [[nodiscard]] bool pin_next();
  void ask_for_all();
  void give_up_pins();
  void publish();
  void end_commit();
  template <class F>
  void ask(const written_unit& w, F&& f);
  void tell_turns(bool takes) { turns_.on_taking(takes); }

  directory::pin_table& pins_;
  std::size_t pinned_ = 0;  ///< of what was written, in order, while a commit is under way
  bool asked_ = false;      ///< the next one is counted as pinned, and has been asked for
  std::uint64_t wanted_ =
      0;  ///< units that commits have asked for, and that have not come yet: also of one that was doomed meanwhile
  sequential::domain directory_{};
  turns turns_;
};

}  // namespace quire::transaction::owners
