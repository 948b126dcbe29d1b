// SPDX-License-Identifier: BSD-3-Clause
// Commits by owners: units that were written are pinned by the directory of the sequential protocol, in ascending order
// (region, unit). A pin holds when no other node has a copy any more: who has read there is doomed by then. With all
// pins the writes are published in one step, and the pins end. (Scalable TCC, Chafi et al. 2007)
//
// (T1) holds as no other node has a copy of a unit that is published; (T2), as no body of a program runs while pins are
// held, and they are taken in one order; (T3), by turns.hpp.
#pragma once

#include "protocol/sequential/domain.hpp"
#include "protocol/transaction/domain_of.hpp"
#include "protocol/transaction/owners/turns.hpp"

namespace quire::transaction::owners {

class machine;

class domain final : public domain_of<machine> {
 public:
  explicit domain(const protocol::job& node);

  [[nodiscard]] const protocol::domain_action* next(std::size_t left) override {
    return agenda_.next(left, [](agenda::step) {});
  }

  [[nodiscard]] progress advance() override;
  /// Another node has its turn.
  [[nodiscard]] bool is_paused() const noexcept override { return turns_.paused(); }
  void ask_turn() override { turns_.ask(agenda_); }
  void end_turn() override;
  void look() override { turns_.look(agenda_); }

  [[nodiscard]] bool on_message(const model::message& m, std::span<const std::byte> value) override;
  [[nodiscard]] bool commits() const override { return under_way_ || wanted_ != 0; }
  [[nodiscard]] bool busy() const override { return turns_.busy(); }

  // ---- Of machines
  [[nodiscard]] sequential::domain& directory() noexcept { return directory_; }
  /// A unit that a commit had asked for.
  void note_came() noexcept { turns_.on_taking(--wanted_ != 0 || under_way_); }

 private:
  [[nodiscard]] bool pin_next();
  void ask_for_all();
  void give_up_pins();
  void publish();
  void end_commit();
  template <class F>
  void ask(const written_unit& w, F&& f);

  directory::pin_table& pins_;
  std::uint64_t wanted_ =
      0;  ///< units that commits have asked for, and that have not come yet: also of one that was doomed meanwhile
  sequential::domain directory_{};
  turns turns_;
};

}  // namespace quire::transaction::owners
