// SPDX-License-Identifier: BSD-3-Clause
// Regions with a store of their own (a file, say), which keeps their content beyond the job: region_slot::backing. A
// unit begins in it, at the node that manages the unit, as content that has left memory: absent_units.hpp brings it.
// What threads write is written back when somebody asks, from copies, so that nobody waits for a disk and nothing
// tears. Which units the store may have older the machine knows (model/storing.hpp). stored_units.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/fault_heap.hpp"
#include "base/status.hpp"
#include "core/ops.hpp"
#include "core/region_slot.hpp"
#include "core/unit_bits.hpp"
#include "model/message.hpp"
#include "model/storing.hpp"
#include "store/store.hpp"

namespace quire::core {

class core;
struct frame_io;

class stored_units {
 public:
  explicit stored_units(core& node) noexcept : core_(node) {}

  // Application threads.
  /// The store for the region that will be made with this number (region_description::backing, not 0), on each node
  /// that manages a unit of it.
  void offer(std::uint16_t number, std::unique_ptr<store::store> which);
  /// There will be no such region, if there is none yet: the store is closed.
  void withdraw(std::uint16_t number) noexcept;
  /// For the region that is being made. Null if there is none.
  [[nodiscard]] std::unique_ptr<store::store> take(std::uint16_t number);
  /// When it returns the stores of all nodes have what threads had written to this part of the region, and have made it
  /// last (store::sync()). QUIRE_BAD_ADDRESS; QUIRE_UNSUPPORTED: the region has no store of its own; QUIRE_BUSY: this
  /// node has pinned some of the units; QUIRE_IO, and a line: some store has not taken something since this node asked
  /// last. That stays in memory, and the next call tries again.
  [[nodiscard]] base::status write_back(std::uint64_t address, std::uint64_t bytes) noexcept;

  /// When it returns no node has clean content of this part of the region in memory: who needs it asks the store again.
  /// What is dirty is written back first, as by write_back(); what threads write meanwhile stays. Statuses as there;
  /// after QUIRE_IO some of it has not left.
  [[nodiscard]] base::status drop(std::uint64_t address, std::uint64_t bytes) noexcept;
  /// The content of the region at `base` ends after so many bytes from now on, which are not more than before. What is
  /// in memory from there on goes without being written, on all nodes; of a unit that is partly beyond the end the rest
  /// is zero. Then the stores of all nodes that manage units are cut (store::resize()). What threads look at beyond the
  /// end later is zero, or refused if the store says so (store::beyond), until it grows again. Where threads use what
  /// goes meanwhile it is no matter which comes first. Nobody else may cut the region or let it grow meanwhile (the
  /// caller's lock). QUIRE_BAD_ADDRESS, QUIRE_UNSUPPORTED, QUIRE_BUSY as for write_back(); QUIRE_IO: some store cannot
  /// be cut, or not be read; what was beyond the end is zero all the same.
  [[nodiscard]] base::status cut(std::uint64_t base, std::uint64_t bytes) noexcept;
  /// The same, where they are not fewer than before. The stores of all nodes that manage units grow (store::resize());
  /// so who has content for it (the file calls of a container) calls this before it writes there: what is flushed
  /// beyond the end is not kept. What threads have written there before, in mappings, is written back later as all
  /// other content. Statuses as of cut(); after QUIRE_IO the end is where it was, or some stores have grown.
  [[nodiscard]] base::status grow(std::uint64_t base, std::uint64_t bytes) noexcept;

  // Driver's thread.
  /// Page-out: the unit, which this node manages, is to be clean some time, and to last in the store. True if it is.
  /// Nobody waits.
  [[nodiscard]] bool begin_flush(region_slot& r, std::uint64_t unit) noexcept;
  void on_call(const model::message& m) noexcept;
  void on_answer(const model::message& m) noexcept;
  /// Actions of a machine.
  void flush(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept;
  void leave(region_slot& r, std::uint64_t first, std::uint64_t count, model::leave_end end) noexcept;
  /// Something staged (frames.hpp) has been done.
  void on_staged(const frame_io& done) noexcept;
  /// A fill or flush has failed: a line, once a second at most.
  void note_failure(const region_slot& r, bool writes, int error) noexcept;
  /// Calls go on that have more to do than one turn has time for, and what threads have written goes back in the
  /// background. True if there is any.
  bool look() noexcept;
  /// The job ends: all that threads have written goes back, and nothing more in the background. False until that has
  /// ended.
  [[nodiscard]] bool write_back_all() noexcept;
  /// Survivors give up what is under way: calls of all nodes are forgotten here, whose nodes make them again.
  void cut() noexcept;
  [[nodiscard]] bool is_quiet(const region_slot& r) const noexcept;
  [[nodiscard]] bool is_quiet() const noexcept { return calls_.empty(); }
  void forget(const region_slot& r) noexcept;

  struct counters {
    std::uint64_t written = 0;            ///< units that stores have taken
    std::uint64_t failed = 0;             ///< that they have not
    std::uint64_t syncs = 0;              ///< that have begun
    std::uint64_t most_staged_bytes = 0;  ///< of copies on their way, at a time
  };
  [[nodiscard]] const counters& count() const noexcept { return count_; }

 private:
  /// What a message asks for (message::b). `a` of it is how many units are looked at; of the last two `c` is where the
  /// content ends, in bytes.
  enum class asked : std::uint8_t { write_back, drop, cut, grow };
  /// A call of a thread, of any node, or of this node itself in the background, for units that this node manages.
  struct call {
    model::message m{};
    region_slot* region = nullptr;
    std::uint64_t next = 0, end = 0;  ///< units that have not been looked at
    std::uint64_t waiting = 0;        ///< that are to be flushed, or to leave
    int error = 0;
    std::uint64_t number =
        0;  ///< of a sync of its region (book::syncs) that it waits for, or of its own resize; 0: none yet
    bool synced = false;         ///< that has ended
    bool in_background = false;  ///< nobody waits for it

    [[nodiscard]] asked what() const noexcept { return static_cast<asked>(m.b); }
  };
  /// A unit that a call waits for.
  struct wait {
    call* by = nullptr;
    std::uint64_t unit = 0;
    bool next = false;  ///< for the flush that begins next, else for the one that is under way
  };
  /// Of a region's store, as this node knows it.
  struct book {
    const region_slot* region = nullptr;
    // What it has not taken, and which nodes have been told.
    std::uint64_t failures = 0;
    int last = 0;
    base::fault_vector<std::uint64_t> told{};  ///< [node]
    std::uint64_t rests_until_ns = 0;          ///< page-out writes nothing to it: it has just failed
    // What it has taken, and may lose until a sync ends well: units, a bit each. One sync at a time, which is good for
    // what was taken before it began.
    unit_bits taken{}, synced{};
    std::uint64_t syncs = 0;  ///< that have begun
    bool syncing = false, again = false;
    std::uint64_t turn = 0;           ///< syncs that have failed: what was written before may be lost, whenever it ends
    std::uint64_t owed = UINT64_MAX;  ///< it was to be cut to this end, and could not: it is before it grows, as it has
                                      ///< old content there
  };

  [[nodiscard]] base::status ask(std::uint64_t address, std::uint64_t bytes, asked what, std::uint64_t end,
                                 const char* doing) noexcept;
  [[nodiscard]] base::status resize(std::uint64_t base, std::uint64_t bytes, asked what, const char* doing) noexcept;
  void begin(region_slot& r, const model::message& m, bool in_background) noexcept;
  [[nodiscard]] bool may_go_on(const call& c) const noexcept;
  void advance(call& c) noexcept;
  [[nodiscard]] bool may_leave(const region_slot& r, const book& b, std::uint64_t unit,
                               model::leave_end end) const noexcept;
  void give_up(region_slot& r, book& b, std::uint64_t first, std::uint64_t count) noexcept;
  void look_at(call& c, std::uint64_t unit) noexcept;
  [[nodiscard]] bool end_if_done(call& c) noexcept;
  void end_done() noexcept;
  void answer(const call& c) noexcept;
  void on_flushed(const frame_io& done) noexcept;
  void on_synced(const frame_io& done) noexcept;
  void on_resized(const frame_io& done) noexcept;
  void begin_sync(region_slot& r, book& b) noexcept;
  void write_back_in_background() noexcept;
  void note_unwritten(const region_slot& r, int error) noexcept;
  [[nodiscard]] book& book_of(const region_slot& r) noexcept;
  template <class Predicate>
  void end_waits(Predicate&& which, int error) noexcept;
  void go_on() noexcept;

  core& core_;
  std::mutex offers_mutex_{};
  std::map<std::uint16_t, std::unique_ptr<store::store>> offers_{};
  base::fault_vector<base::fault_ptr<call>> calls_{};
  base::fault_vector<wait> waits_{};
  base::fault_vector<base::fault_ptr<book>> books_{};
  std::uint64_t waited_bytes_ = 0;  ///< of units in waits_
  std::uint64_t last_number_ = 0, quiet_until_ns_ = 0, next_write_back_ns_ = 0;
  bool writes_all_ = false;  ///< the job ends
  counters count_{};
};

}  // namespace quire::core
