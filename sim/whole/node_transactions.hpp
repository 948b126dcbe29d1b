// SPDX-License-Identifier: BSD-3-Clause
// Transactions as nodes have them (core::transactions), for programs that are recorded: with attempts, back-off and
// turns as src/api/transactions.cpp has them around a body.
#pragma once

#include "core/transactions.hpp"
#include "sim/whole/transaction_job.hpp"

namespace quire::whole {

class node_transactions final : public transaction_calls {
 public:
  /// Publications are told to the recorder.
  node_transactions(world& w, recorder& r) : world_(w), record_(r) {
    w.on_turn([&r](node& n) { r.look_at(n); });
  }
  [[nodiscard]] std::optional<recorder::id> begin(actor& a, unsigned attempt, bool turn, std::uint64_t first) override;
  [[nodiscard]] bool commit(actor& a, recorder::id which) override;
  [[nodiscard]] bool abort(actor& a) override;
  void retry(actor& a) override { a.here.core().transactions.retry(-1); }
  void hide(actor& a, std::uint64_t first, std::uint64_t bytes) override {
    a.here.core().transactions.hide_afterwards(first, bytes);
  }
  void take_turn(actor& a) override;

 private:
  world& world_;
  recorder& record_;
};

}  // namespace quire::whole
