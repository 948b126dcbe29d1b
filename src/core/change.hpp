// SPDX-License-Identifier: BSD-3-Clause
// Changes of a region's consistency, and what other collective calls on content share with them (block_calls.cpp,
// hold.cpp): change.cpp.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "core/op.hpp"
#include "core/region_slot.hpp"
#include "protocol/contract/row.hpp"

namespace quire::core {

class core;

/// What nodes add up, in one collective.
struct totals {
  std::int64_t call = 0,
               call_squared =
                   0;       ///< what was called: the same on all nodes? Once that is known, `call`: regions about to go
  std::int64_t bad = 0;     ///< nodes with bad arguments
  std::int64_t failed = 0;  ///< nodes without memory for it
  std::int64_t pins = 0;    ///< units pinned, or about to be
  std::int64_t busy = 0;    ///< nodes that wait for something of their own
  std::int64_t sent = 0, received = 0;
};

/// Whose collectives a change takes: the job's, or those of a group that has one member on each node.
struct channel {
  std::uint64_t group = 0;   ///< 0: the job
  std::uint32_t thread = 0;  ///< the calling member's number
};

/// One of the calls that change a region. Nodes must agree on all of it.
struct change_call {
  enum class kind { set, begin_block, end_block };
  kind what = kind::set;
  region_ref region{};
  const protocol::row* to = nullptr;
  bool checked = false;
  bool good = false;
  channel by{};
  bool old = false;  ///< the handle is of a region that has gone

  /// Of a call that is not good.
  [[nodiscard]] const char* why_not() const noexcept {
    if (region == nullptr)
      return "there is no such region (it was destroyed, or never made), or it is that of quire_malloc(), which keeps "
             "its consistency";
    if (region->about.backing != 0)
      return "it is the region of a container with a linker, which keeps sequential consistency and goes without "
             "parallel blocks";
    if (what == kind::end_block) return "no parallel block is under way on the region";
    if (region->block != nullptr) return "a parallel block is under way on the region";
    if (what == kind::begin_block)
      return "a flag is not known, or the region's consistency goes without parallel blocks";
    if (to == nullptr) return "the consistency is neither QUIRE_SEQUENTIAL, QUIRE_RELEASE nor QUIRE_TRANSACTIONAL";
    if (to->can.transactions && region->about.copies == 0)
      return "a region becomes transactional only if it was made so, and had another consistency since";
    if (region->scans() && !to->can.scan)
      return "a region with QUIRE_DETECT_SCAN cannot have sequential consistency, as its writes cannot be stopped";
    if (region->about.copies != 0)
      return "from transactional to release consistency, and back, it goes by sequential consistency";
    return "the region's consistency, or the other one, does not change";
  }
  [[nodiscard]] std::int64_t signature() const noexcept {
    if (!good) return 0;
    constexpr std::int64_t kinds = 4, protocols = region_slot::most_protocols;
    return ((std::int64_t{region->about.id} * kinds + static_cast<int>(what)) * protocols + to->id.value()) * 2 +
           (checked ? 1 : 0);
  }
};

/// The heap has too many units to look at them all.
inline region_ref changeable(region_map& regions, std::uint64_t region) noexcept {
  return region != 0 ? regions.of_handle(region) : nullptr;
}

class changer {
 public:
  explicit changer(core& node) : core_(node) {}

  // Application threads: one of each node calls.
  /// As in quire.h.
  [[nodiscard]] base::status set_consistency(std::uint64_t region, quire_consistency to, channel by = {}) noexcept;
  [[nodiscard]] base::status change(const change_call& call) noexcept;
  /// Sums over all nodes.
  [[nodiscard]] base::status gather(totals& t, channel by = {}) noexcept;
  /// The lowest that any node has.
  [[nodiscard]] base::status lowest(std::int64_t& value) noexcept;
  /// Until nothing of a region, or of all (null), is on its way; `last`: what has been summed up before.
  [[nodiscard]] base::status drain(region_slot* r, totals last, channel by = {}) noexcept;

  // Driver's thread.
  void add_up(region_slot* r, totals& t) noexcept;
  /// Its threads need not wait for this reason any more. What was kept for later is executed, if there is no other.
  void thaw(region_slot& r, freeze why, bool homes_stay) noexcept;
  /// A thread may be waiting until nothing is under way.
  void look() noexcept {
    if (quiet_waiter_ != nullptr) look_whether_quiet();
  }

 private:
  void stop_common_writes(region_slot& r) noexcept;
  void stop(const change_call& call, totals& t) noexcept;
  /// The region's frames are its host's no longer afterwards.
  [[nodiscard]] bool goes_apart(const change_call& call) const noexcept;
  void take_from_host(const change_call& call) noexcept;
  void convert(const change_call& call) noexcept;
  [[nodiscard]] bool can_change(const region_slot& r, const protocol::row& to) const noexcept;
  [[nodiscard]] bool is_quiet(const region_slot& r) const noexcept;
  void wait_quiet(const region_slot* r) noexcept;  // null: all regions
  void look_whether_quiet() noexcept;

  core& core_;
  op* quiet_waiter_ = nullptr;  ///< waits until nothing that this node has asked for in `quieting_` is under way
  const region_slot* quieting_ = nullptr;  ///< null: all
};

}  // namespace quire::core
