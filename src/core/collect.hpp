// SPDX-License-Identifier: BSD-3-Clause
// What the collective calls of the engine have in common (change.cpp, hold.cpp): sums over nodes, and steps of the driver that a
// caller waits for.
#pragma once

#include "core/core.hpp"

namespace quire::core {

/// What nodes add up, in one collective.
struct core::totals {
  std::int64_t call = 0, call_squared = 0;  ///< what was called: the same on all nodes?
  std::int64_t bad = 0;       ///< nodes with bad arguments
  std::int64_t failed = 0;    ///< nodes without memory for it
  std::int64_t pins = 0;      ///< units pinned, or about to be
  std::int64_t busy = 0;      ///< nodes that wait for something of their own
  std::int64_t sent = 0, received = 0;
};

/// Runs `f` as the driver, and waits until it has run.
template <class F>
void core::as_driver(F f) noexcept {
  struct task : op {
    task(body execute, F& f) noexcept : op(execute, type::call), what(f) {}
    F& what;
  } o([](core&, op& self) noexcept {
    static_cast<task&>(self).what();
    self.complete();
  }, f);
  (void)run(o);
}

}  // namespace quire::core
