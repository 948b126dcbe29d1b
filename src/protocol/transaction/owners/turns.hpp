// SPDX-License-Identifier: BSD-3-Clause
// Transactions that nobody dooms: one of the job at a time has its turn, and no other node commits meanwhile. Node 0
// gives turns, first come first served.
//
//   who wants it    turn_request -> node 0
//   node 0          pause -> all others that may commit; each answers `paused` as soon as it takes no unit from others.
//                   Then turn_grant
//   who has had it  turn_end -> node 0; the next gets it, else `resume` -> all
//
// Pure: events go in, messages come out, to `out`. Driver's thread.
#pragma once

#include <cstdint>

#include "base/fault_heap.hpp"
#include "model/message.hpp"
#include "protocol/transaction/agenda.hpp"

namespace quire::transaction::owners {

class turns {
 public:
  turns(model::node_id self, unsigned nodes);

  // ---- On each node
  void ask(agenda& out);
  void end(agenda& out);
  /// It has been asked for, or is had.
  [[nodiscard]] bool wanted() const noexcept { return wanted_; }
  [[nodiscard]] bool had() const noexcept { return had_; }
  /// Nobody may begin to commit here.
  [[nodiscard]] bool paused() const noexcept { return paused_; }
  /// From now on this node takes units from others, or no longer: `paused` is not answered in between.
  void on_taking(bool takes) noexcept { taking_ = takes; }
  /// If that is due by now, it is.
  void look(agenda& out);

  /// False if it is no message of turns.
  [[nodiscard]] bool on_message(const model::message& m, agenda& out);
  [[nodiscard]] bool busy() const noexcept { return wanted_ || !queue_.empty(); }

 private:
  void send(model::node_id to, model::message_kind kind, agenda& out) const;
  // On node 0.
  void serve(agenda& out);

  model::node_id self_;
  unsigned nodes_;
  bool wanted_ = false, had_ = false, paused_ = false, taking_ = false;
  bool answers_ = false;  ///< `paused` is to be said as soon as it takes none
  // Of node 0.
  base::fault_vector<model::node_id>
      queue_{};                        ///< of those who want a turn; the first has it, or gets it when all have paused
  base::fault_vector<bool> pauses_{};  ///< who has been told to
  unsigned awaited_ = 0;               ///< answers
  bool granted_ = false;
};

}  // namespace quire::transaction::owners
