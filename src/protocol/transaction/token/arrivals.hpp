// SPDX-License-Identifier: BSD-3-Clause
// Messages that synchronise threads, where they arrive: who goes on by one sees all commits that its sender had applied
// when it left. The sender tells the number of these before, in a message of its own where the receiver does not know
// it yet; here messages of a node wait, in their order, until so many have been applied. Pure. Driver's thread.
#pragma once

#include <cstddef>
#include <span>

#include "base/fault_heap.hpp"
#include "model/message.hpp"
#include "protocol/transaction/token/state.hpp"

namespace quire::transaction::token {

class arrivals {
 public:
  explicit arrivals(unsigned nodes) : of_(nodes) {}

  /// Node `from` had applied so many commits when it sent this.
  void on_told(node_id from, commit_number number) noexcept;
  /// A message that synchronises has come. True if it waits here.
  [[nodiscard]] bool keeps_back(const model::message& m, std::span<const std::byte> value, commit_number applied);
  struct kept {
    model::message m{};
    commit_number needs = 0;  ///< of its own: what its sender commits later holds it up no longer
    base::fault_vector<std::byte> value{};
  };
  /// One that waits no longer; false if there is none. What comes from its sender waits behind it until on_heard().
  [[nodiscard]] bool take(commit_number applied, kept& to);
  /// Somebody has heard the one of this sender that take() gave.
  void on_heard(node_id from) noexcept { of_[from.value()].leaves = false; }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }

 private:
  struct sender {
    commit_number needs = 0;
    bool leaves = false;  ///< one is being handed out: what comes behind it waits
    base::fault_deque<kept> waits{};
  };
  base::fault_vector<sender> of_;
  std::size_t waiting_ = 0;
};

}  // namespace quire::transaction::token
