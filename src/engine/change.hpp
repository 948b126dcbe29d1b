// What the calls that change a region's consistency, and those that begin and end parallel blocks, have in common (change.cpp,
// block_calls.cpp).
#pragma once

#include <cstdint>

#include "engine/engine.hpp"

namespace quire::engine {

/// What nodes add up, in one collective.
struct engine::totals {
  std::int64_t call = 0, call_squared = 0;  ///< what was called: the same on all nodes?
  std::int64_t bad = 0;       ///< nodes with bad arguments
  std::int64_t failed = 0;    ///< nodes without memory for it
  std::int64_t pins = 0;      ///< units pinned, or about to be
  std::int64_t busy = 0;      ///< nodes that wait for something of their own
  std::int64_t sent = 0, received = 0;
};

/// One of the calls that change a region. Nodes must agree on all of it.
struct engine::change_call {
  enum class kind { set, begin_block, end_block };
  kind what = kind::set;
  region_slot* region = nullptr;
  quire_consistency to = QUIRE_SEQUENTIAL;
  bool checked = false;
  bool good = false;

  [[nodiscard]] std::int64_t signature() const noexcept {
    if (!good) return 0;
    return static_cast<std::int64_t>(region->about.id) * 16 + static_cast<int>(what) * 4 + (to == QUIRE_RELEASE ? 2 : 0) + (checked ? 1 : 0);
  }
};

/// The heap has too many units to look at them all.
inline region_slot* changeable(region_map& regions, std::uint64_t region) noexcept {
  return region != 0 && region < region_map::max_regions ? regions.slot(model::region_id{static_cast<std::uint16_t>(region)}) : nullptr;
}

/// Runs `f` as the driver, and waits until it has run.
template <class F>
void engine::as_driver(F f) noexcept {
  struct task : op {
    task(body execute, F& f) noexcept : op(execute, type::call), what(f) {}
    F& what;
  } o([](engine&, op& self) noexcept {
    static_cast<task&>(self).what();
    self.complete();
  }, f);
  (void)run(o);
}

}  // namespace quire::engine
