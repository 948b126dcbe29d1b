// SPDX-License-Identifier: BSD-3-Clause
// What threads wait for, and core/op.hpp does not know: a unit, or a message.
#pragma once

#include <cstdint>

#include "core/op.hpp"
#include "core/read_ahead.hpp"
#include "core/region_slot.hpp"
#include "model/message.hpp"

namespace quire::core {

/// What waits for a message, and what came.
struct call_op : op {
  explicit call_op(body execute) noexcept : op(execute, type::call) {}
  model::message m{};  ///< the request, then the reply
  model::node_id to{};
  std::uint64_t token = 0;
  std::uint64_t replies = 1;  ///< how many replies complete it
  region_ref region{};
  // Of calls that are made again when a node has died (survival.cpp).
  bool pushes = false;                 ///< else an atomic operation, whose manager is `to`
  std::uint64_t first = 0, units = 0;  ///< what is pushed
  base::status why{};                  ///< of the replies so far
};

/// A thread that waits for a unit, or for one after the other of a composed page.
struct fault_op : op {
  explicit fault_op(body execute) noexcept : op(execute, type::fault) {}
  region_ref region{};
  std::uint64_t unit = 0;
  model::access want = model::access::none;
  bool inside = false;    ///< it is in a transaction
  bool nested = false;    ///< it waits for something else, and a signal has let it in here
  bool recorded = false;  ///< the report has it
  bool joined = false;    ///< it waits for what was asked before
  bool anew = false;      ///< that cannot be had, which is older than this question: it is to be asked again
  bool composed =
      false;          ///< all units of the page are wanted, of which `unit` is the first, or the one that it waits for
  unsigned lost = 0;  ///< how often in a row the thread was let in and came back at once
  sweeps* stream = nullptr;
  std::uint64_t address = 0;  ///< of the access
  fault_op* next_waiter = nullptr;
};

}  // namespace quire::core
