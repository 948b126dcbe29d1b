// SPDX-License-Identifier: BSD-3-Clause
// Regions with a store of their own (a file, say), which keeps their content beyond the job: region_slot::backing. A unit begins in it, at the node that
// manages the unit, as content that has left memory: absent_units.hpp brings it. What threads write is written back when somebody asks, from copies,
// so that nobody waits for a disk and nothing tears. Which units the store may have older the machine knows (model/storing.hpp). stored_units.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/fault_heap.hpp"
#include "base/status.hpp"
#include "core/frames.hpp"
#include "core/ops.hpp"
#include "core/region_slot.hpp"
#include "model/message.hpp"
#include "store/store.hpp"

namespace quire::core {

class core;

class stored_units {
 public:
  explicit stored_units(core& node) noexcept : core_(node) {}

  /// What a thread, or a call, is told that needs content which its store does not give. And a sync, if the store has not taken something.
  static constexpr quire_status unreadable = QUIRE_IO, unwritable = QUIRE_IO;
  /// The status of content that a store does not give, with this errno.
  [[nodiscard]] static constexpr quire_status status_of(int error) noexcept { return error == store::store::beyond ? QUIRE_BEYOND : unreadable; }

  // Application threads.
  /// The store for the region that will be made with this number (region_description::backing, not 0), on each node that manages a unit of it.
  void offer(std::uint16_t number, std::unique_ptr<store::store> which);
  /// For the region that is being made. Null if there is none.
  [[nodiscard]] std::unique_ptr<store::store> take(std::uint16_t number);
  /// When it returns the stores of all nodes have what threads had written to this part of the region, and have made it last (store::sync()).
  /// QUIRE_BAD_ADDRESS; QUIRE_UNSUPPORTED: the region has no store of its own; QUIRE_BUSY: this node has pinned some of the units; QUIRE_IO, and a
  /// line: some store has not taken something since this node asked last. That stays in memory, and the next call tries again.
  [[nodiscard]] base::status write_back(std::uint64_t address, std::uint64_t bytes) noexcept;

  /// When it returns no node has clean content of this part of the region in memory: who needs it asks the store again. What is dirty is written back first,
  /// as by write_back(); what threads write meanwhile stays. Statuses as there; after QUIRE_IO some of it has not left.
  [[nodiscard]] base::status drop(std::uint64_t address, std::uint64_t bytes) noexcept;
  /// The region's content ends before `address` from now on. What is in memory from there on goes without being written, on all nodes; of a unit that
  /// is partly beyond the end the rest is zero. Then the stores of all nodes that manage units are cut (store::resize()). What threads look at beyond the end
  /// later is zero, or refused if the store says so (store::beyond), until it grows again. Where threads use what goes meanwhile it is no matter which
  /// comes first. Nobody else may cut or let grow the region meanwhile (the caller's lock). QUIRE_BAD_ADDRESS, QUIRE_UNSUPPORTED, QUIRE_BUSY as for
  /// write_back(); QUIRE_IO: some store cannot be cut; what was beyond the end is gone from memory all the same.
  [[nodiscard]] base::status cut(std::uint64_t address) noexcept;
  /// The region's content ends before `address` from now on, which is not below its present end. The stores of all nodes that manage units grow first
  /// (store::resize()); so who has content for it (the file calls of a container) calls this before it writes there. What threads have written beyond the
  /// end that was, in mappings, is written back later as all other content. Statuses as of cut(); after QUIRE_IO the end is where it was, or some stores
  /// have grown.
  [[nodiscard]] base::status grow(std::uint64_t address) noexcept;

  // Driver's thread.
  /// Page-out: the unit, which this node manages, is to be clean some time. Nobody waits.
  void begin_flush(region_slot& r, std::uint64_t unit) noexcept;
  void on_call(const model::message& m) noexcept;
  void on_answer(const model::message& m) noexcept;
  /// An action of a machine.
  void flush(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept;
  void on_flushed(const frame_io& done) noexcept;
  /// A fill or flush has failed: a line, once a second at most.
  void note_failure(const region_slot& r, bool writes, int error) noexcept;
  /// Calls go on that have more to do than one turn has time for. True if there are any.
  bool look() noexcept;
  [[nodiscard]] bool is_quiet(const region_slot& r) const noexcept;
  [[nodiscard]] bool is_quiet() const noexcept { return calls_.empty(); }
  void forget(const region_slot& r) noexcept;

  struct counters {
    std::uint64_t written = 0;  ///< units that stores have taken
    std::uint64_t failed = 0;   ///< that they have not
  };
  [[nodiscard]] const counters& count() const noexcept { return count_; }

 private:
  /// A call of a thread, of any node, for units that this node manages.
  struct call {
    model::message m{};
    region_slot* region = nullptr;
    std::uint64_t next = 0, end = 0;  ///< units that have not been looked at
    std::uint64_t waiting = 0;        ///< that are to be flushed
    int error = 0;
    std::uint64_t number = 0;         ///< names it while its store makes what it has last
    bool syncs = false, synced = false;
  };
  /// A unit that a call waits for.
  struct wait {
    call* by = nullptr;
    std::uint64_t unit = 0;
    bool next = false;  ///< for the flush that begins next, else for the one that is under way
  };
  /// What a region's store has not taken, and which nodes have been told.
  struct failures {
    const region_slot* region = nullptr;
    std::uint64_t count = 0;
    int last = 0;
    base::fault_vector<std::uint64_t> told{};  ///< [node]
  };

  void advance(call& c) noexcept;
  [[nodiscard]] bool end_if_done(call& c) noexcept;
  void end_done() noexcept;
  void on_synced(const frame_io& done) noexcept;
  void note_unwritten(const region_slot& r, int error) noexcept;
  [[nodiscard]] failures& failures_of(const region_slot& r) noexcept;

  core& core_;
  std::mutex offers_mutex_{};
  std::map<std::uint16_t, std::unique_ptr<store::store>> offers_{};
  base::fault_vector<base::fault_ptr<call>> calls_{};
  base::fault_vector<wait> waits_{};
  base::fault_vector<failures> failures_{};
  std::uint64_t last_number_ = 0, quiet_until_ns_ = 0;
  counters count_{};
};

}  // namespace quire::core
