// SPDX-License-Identifier: BSD-3-Clause
// Synchronisation: calls of threads go into the sync machine, its actions come out. sync_calls.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fault_heap.hpp"
#include "base/status.hpp"
#include "core/arrivals.hpp"
#include "core/lingers.hpp"
#include "core/region_slot.hpp"
#include "core/waiting.hpp"
#include "protocol/contract/domain.hpp"
#include "sync/machine.hpp"

namespace quire::core {

class core;

class sync_calls {
 public:
  sync_calls(core& node, model::node_id self, unsigned nodes, const model::membership& members)
      : core_(node), machine_(self, nodes, {}, members) {}

  // Application threads.
  /// Timeouts as in quire.h; the result's values come back in `request`.
  [[nodiscard]] base::status synchronise(sync::call& request, std::int64_t timeout_ms) noexcept;
  /// Of checkpoints.
  [[nodiscard]] sync::saved_objects save() noexcept;
  [[nodiscard]] bool load(std::span<const sync::saved_objects> all) noexcept;
  [[nodiscard]] bool any() noexcept;
  /// Members of a group, and the number of this node's first; of none, 0 members.
  struct group_size {
    std::uint32_t members = 0, first = 0;
  };
  [[nodiscard]] group_size size_of(sync::object_id group) noexcept;
  /// Nodes that may have made objects; changes in load().
  [[nodiscard]] unsigned makers() const noexcept { return machine_.makers(); }

  // Driver's thread.
  void on_message(const model::message& m, std::span<const std::byte> value) noexcept;
  /// Where a piece of an array goes; and f(content) once it is there.
  [[nodiscard]] std::byte* place(const model::message& m) { return pieces_.place(m); }
  template <class F>
  void with_piece(const model::message& m, F&& f) {
    pieces_.with(m, std::forward<F>(f));
  }
  /// Mutexes that were kept here for a thread that has not come. True if there were any.
  bool end_lingers() noexcept;
  /// As of the core.
  void set_clock() noexcept;
  /// f(machine, actions), and what it wants is done.
  template <class F>
  void step(F&& f) noexcept {
    actions_.clear();
    f(machine_, actions_);
    perform();
  }
  /// Who holds and who waits for which lock, which nodes have arrived where, and whom the threads of `notes` wait for:
  /// as many as `all` has room for (holders.cpp).
  void add_holders(const wait_board& notes, std::vector<waits::record>& all) noexcept;

 private:
  void perform() noexcept;
  /// For mutexes that are kept here, if the host would not look in time anyway.
  void look_later(std::uint64_t now) noexcept;
  void send(const sync::action& a) noexcept;
  void on_round_end(const model::message& m) noexcept;
  void note_round(const model::message& m) noexcept;
  /// Rounds of a group that has a thread on every node.
  struct epochs {
    std::array<protocol::round_marks, region_slot::most_protocols> marks{};  ///< what domains remember of them
    std::uint64_t rounds = 0;                                                ///< that this node, the root, has ended
  };
  [[nodiscard]] epochs* epochs_of(const model::message& m) noexcept;

  core& core_;
  sync::machine machine_;
  sync::actions actions_;
  bool comes_ = false;  ///< the step is of another node's message
  lingers lingers_;
  arrivals pieces_{};
  base::fault_hash_map<std::uint64_t, epochs> epochs_{{0, {}}};  ///< by group
};

}  // namespace quire::core
