// SPDX-License-Identifier: BSD-3-Clause
// What every protocol is to the core: a machine without I/O for the units of one region on one node. Called on the
// driver's thread; every call takes one unit and appends what is to be done, in order. src/protocol has the machines.
//
// A protocol need not be able to do all: its row of the table (src/protocol/contract) says what it can. What it cannot is refused
// before the machine hears of it, so that the bodies here, of what a protocol leaves out, end the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.hpp"
#include "base/fault_heap.hpp"
#include "model/action.hpp"
#include "model/handover.hpp"
#include "model/message.hpp"

namespace quire::model {

/// What became of a fault.
enum class fault_outcome : std::uint8_t {
  local,    ///< the node had the right already; permission is among the actions
  started,  ///< a request is on its way; the thread waits for `wake`
  joined,   ///< somebody has asked already (a fault in race); the thread waits for `wake`
  lost,     ///< nobody has the unit any more: its only copy was on a node that is dead
  refused,  ///< only of a pin: this node has pinned as many units as it may
};

/// What the frame of a unit is needed for on this node (page-out).
enum class frame_use : std::uint8_t {
  none,    ///< the content means nothing here: the frame may go, and nobody needs to know
  copy,    ///< a clean copy of what another node has: may be given up by on_drop_copy
  needed,  ///< the content is this node's to keep: elsewhere, if not in memory (after on_unmap)
  busy,    ///< not now
};

/// A table of a machine with an entry a unit, zero where nothing was ever known of the unit.
struct unit_table {
  const void* entries = nullptr;
  std::size_t bytes_of_entry = 0;
};

class machine {
 public:
  explicit machine(protocol_id of) noexcept : protocol_(of) {}
  virtual ~machine() = default;
  // A change of consistency makes machines while some other thread of the node may be driving, in fault context.
  [[nodiscard]] static void* operator new(std::size_t bytes) noexcept { return base::fault_allocate(bytes); }
  static void operator delete(void* at, std::size_t bytes) noexcept { base::fault_free(at, bytes); }

  [[nodiscard]] protocol_id protocol() const noexcept { return protocol_; }
  [[nodiscard]] virtual std::uint64_t units() const noexcept = 0;

  // ---- Faults and messages
  /// A thread touched `unit` and may not `want` it. `lost` says how many times in a row the thread was woken for this very
  /// access and could not do it after all.
  virtual fault_outcome on_fault(std::uint64_t unit, access want, actions& out, unsigned lost) = 0;
  /// A message for one unit (m.unit; m.count is ignored). Content, if any, has been placed already.
  virtual void on_message(const message& m, actions& out) = 0;
  /// What the application view permits, as far as the machine knows.
  [[nodiscard]] virtual access mapped(std::uint64_t unit) const noexcept = 0;
  /// Whether content that arrives for `unit` may be placed: nobody here can see or make a change of it.
  [[nodiscard]] virtual bool awaits_content(std::uint64_t unit) const noexcept = 0;
  /// Whether the content of `unit` on this node may differ from zero.
  [[nodiscard]] virtual bool is_written(std::uint64_t unit) const noexcept = 0;
  /// Whether it is this node that keeps the content of `unit` for all (owner, home), while nothing of it is on its way.
  [[nodiscard]] virtual bool keeps(std::uint64_t unit) const noexcept = 0;
  /// Whether the content of `unit` on this node means anything.
  [[nodiscard]] virtual bool has_content(std::uint64_t unit) const noexcept = 0;
  /// The node to ask who has `unit`, or what has become of it: its manager, or its home as far as this node knows.
  [[nodiscard]] virtual node_id authority_of(std::uint64_t unit) const noexcept = 0;
  /// Units that this node has asked for and not got yet.
  [[nodiscard]] virtual std::uint64_t outstanding() const noexcept = 0;
  /// The time that a `hold` action asked for is over. May come late, and for a hold that has ended already.
  virtual void on_hold_over(std::uint64_t, actions&) { leaves_out(); }

  // ---- Hints: may be ignored
  /// Ask for `unit` before anybody touches it. With `withhold` it is not mapped when it arrives. `guessed`: it will be read,
  /// and then written like those before it. True if asked.
  virtual bool on_read_ahead(std::uint64_t, access, bool /*withhold*/, actions&, bool /*guessed*/) { return false; }
  /// A thread says that it is going to `want` the unit soon. True if there was anything to do.
  virtual bool on_hint(std::uint64_t unit, access want, actions& out) { return on_read_ahead(unit, want, false, out, false); }
  /// Map a unit that this node may use already, together with a neighbour that faulted. True if there was anything to do.
  virtual bool on_fault_around(std::uint64_t, actions&) { return false; }
  /// Threads of this node are going to write what they read of `unit`, or no longer.
  virtual void on_advice(std::uint64_t, bool /*will_write*/) {}

  // ---- Atomic operations
  /// A thread of this node calls for one: `operation`, a, b, c (offset) and token of `call` are given.
  virtual void on_atomic(const message&, actions&) { leaves_out(); }
  /// An operation of `operate` or `operate_here` has changed the content: called before its reply is sent, or its call ends.
  virtual void on_operated(std::uint64_t) {}

  // ---- Page locking (KOAN: acquire and release)
  /// A thread wants `unit` pinned. Counts even if it must wait: `local` says that it is pinned now. Else the thread waits for `wake`
  /// and asks on_pin_again().
  virtual fault_outcome on_pin(std::uint64_t, actions&) { leaves_out(); }
  virtual fault_outcome on_pin_again(std::uint64_t, actions&) { leaves_out(); }
  /// A thread ends its pin. False if no thread of this node has pinned the unit; then nothing changes.
  [[nodiscard]] virtual bool on_unpin(std::uint64_t, actions&) { leaves_out(); }
  /// A thread that waits for a pin waits no longer. The pin may still come.
  virtual void on_pin_given_up(std::uint64_t, actions&) { leaves_out(); }
  /// Ends all pins of `unit` at once: the node leaves.
  virtual void on_pins_dropped(std::uint64_t, actions&) { leaves_out(); }
  [[nodiscard]] virtual bool is_pinned(std::uint64_t) const noexcept { return false; }
  /// At the unit's authority: the node that has `unit`, and would have to give it to the next who asks.
  [[nodiscard]] virtual node_id holder_of(std::uint64_t) const noexcept { leaves_out(); }
  /// Whether content that comes with a pin may be placed.
  [[nodiscard]] virtual bool awaits_grant(std::uint64_t) const noexcept { return false; }

  // ---- Push, and page broadcasting (KOAN: production phases). The interval of this node has ended before.
  /// A thread here calls for a push of `unit`; `token` is told when all nodes have it.
  virtual void on_push(std::uint64_t, std::uint64_t /*token*/, actions&) { leaves_out(); }
  /// From now on it is noticed whether threads here write `unit`.
  virtual void on_produce_begin(std::uint64_t, actions&) { leaves_out(); }
  /// Ends that. True if this node has written `unit` in the phase: push it.
  [[nodiscard]] virtual bool on_produce_end(std::uint64_t) { leaves_out(); }

  // ---- Page-out (KOAN): a node that is short of memory gives up frames
  [[nodiscard]] virtual frame_use use_of_frame(std::uint64_t) const noexcept { return frame_use::busy; }
  /// Gives up a unit whose frame is a `copy`. Afterwards the frame is needed for nothing.
  virtual void on_drop_copy(std::uint64_t, actions&) { leaves_out(); }
  /// The content of a unit whose frame is `needed` leaves memory: threads that touch it are to fault. Rights stay.
  virtual void on_unmap(std::uint64_t, actions&) { leaves_out(); }
  /// Asks for `unit`, so that this node has its content instead of one that is short of memory. True if asked.
  virtual bool on_please_take(std::uint64_t, actions&) { return false; }

  // ---- The region's protocol changes: no message about any of its units is on its way, nothing is pinned
  /// Units stay with the nodes that keep them, or may move again.
  virtual void stay(bool) noexcept {}
  /// Gives up what is known of `unit`, as if it had never been used.
  [[nodiscard]] virtual handover give(std::uint64_t, actions&) { leaves_out(); }
  /// Goes on from what another protocol knew.
  virtual void take(std::uint64_t, const handover&, actions&) { leaves_out(); }
  /// Units of which there is anything to give lie within, and of them those that knows() says.
  [[nodiscard]] virtual used_units used() const noexcept { leaves_out(); }
  [[nodiscard]] virtual bool knows(std::uint64_t) const noexcept { leaves_out(); }
  virtual void all_given() noexcept { leaves_out(); }

  // ---- The region goes
  /// This node has all that it has asked for, and will tell others nothing by itself. No thread asks for anything meanwhile.
  [[nodiscard]] virtual bool at_rest() noexcept { return outstanding() == 0; }
  /// Its tables go, and what it has of the memory that the machines of a node share. Asked for nothing any more but protocol() and units().
  virtual void forget() noexcept {}

  // ---- A node is lost, and the others go on (core/survival.cpp says in which order)
  virtual void cut(std::uint64_t, actions&) { leaves_out(); }
  virtual void absorb(const message&, actions&) { leaves_out(); }
  virtual void report(std::uint64_t, actions&) { leaves_out(); }
  virtual void settle(std::uint64_t, actions&) { leaves_out(); }
  virtual void mend(std::uint64_t) { leaves_out(); }
  /// What is known of units stands in these.
  [[nodiscard]] virtual std::span<const unit_table> tables() const noexcept { return {}; }
  /// Content is kept on two nodes.
  [[nodiscard]] virtual bool replicated() const noexcept { return false; }

 private:
  /// Of what this protocol cannot: its row says so.
  [[noreturn]] static void leaves_out() noexcept {
    base::check_failed("a protocol is asked only for what its row of the table says it can", __FILE__, __LINE__);
  }

  protocol_id protocol_;
};

}  // namespace quire::model
