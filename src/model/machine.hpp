// SPDX-License-Identifier: BSD-3-Clause
// What every protocol is to the core: a machine without I/O for the units of one region on one node. Called on the
// driver's thread; every call takes one unit and appends what is to be done, in order. src/protocol has the machines.
//
// A protocol need not be able to do all: its row of the table (src/protocol/contract) says what it can. What it cannot
// is refused before the machine hears of it, so that the bodies here and in the parts, of what a protocol leaves out,
// end the process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/fault_heap.hpp"
#include "model/action.hpp"
#include "model/broadcasting.hpp"
#include "model/fault_outcome.hpp"
#include "model/handover.hpp"
#include "model/left_out.hpp"
#include "model/message.hpp"
#include "model/page_locking.hpp"
#include "model/paging.hpp"
#include "model/storing.hpp"
#include "model/succession.hpp"
#include "model/survival.hpp"

namespace quire::model {

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
  /// A thread touched `unit` and may not `want` it. `lost` says how many times in a row the thread was woken for this
  /// very access and could not do it after all.
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
  virtual void on_hold_over(std::uint64_t, actions&) { left_out(); }

  // ---- Hints: may be ignored
  /// Ask for `unit` before anybody touches it. With `withhold` it is not mapped when it arrives. `guessed`: it will be
  /// read, and then written like those before it. True if asked.
  virtual bool on_read_ahead(std::uint64_t, access, bool /*withhold*/, actions&, bool /*guessed*/) { return false; }
  /// Whether the unit was asked for ahead, and nobody touched it before it was taken away.
  [[nodiscard]] virtual bool was_ahead_in_vain(std::uint64_t) const noexcept { return false; }
  /// A thread says that it is going to `want` the unit soon. True if there was anything to do.
  virtual bool on_hint(std::uint64_t unit, access want, actions& out) {
    return on_read_ahead(unit, want, false, out, false);
  }
  /// Map a unit that this node may use already, together with a neighbour that faulted. True if there was anything to
  /// do.
  virtual bool on_fault_around(std::uint64_t, actions&) { return false; }
  /// Threads of this node are going to write what they read of `unit`, or no longer.
  virtual void on_advice(std::uint64_t, bool /*will_write*/) {}

  // ---- Atomic operations
  /// A thread of this node calls for one: `operation`, a, b, c (offset) and token of `call` are given.
  virtual void on_atomic(const message&, actions&) { left_out(); }
  /// An operation of `operate` or `operate_here` has changed the content: called before its reply is sent, or its call
  /// ends.
  virtual void on_operated(std::uint64_t) {}

  // ---- Parts: what a protocol can do besides
  [[nodiscard]] virtual page_locking& pins() noexcept { return none<page_locking>(); }
  [[nodiscard]] virtual broadcasting& pushes() noexcept { return none<broadcasting>(); }
  [[nodiscard]] virtual paging& frames() noexcept { return none<paging>(); }
  [[nodiscard]] virtual storing& stored() noexcept { return none<storing>(); }
  [[nodiscard]] virtual succession& successor() noexcept { return none<succession>(); }
  [[nodiscard]] virtual survival& losses() noexcept { return none<survival>(); }

  // ---- What this node knows
  /// Units of which there is anything to give lie within, and of them those that knows() says.
  [[nodiscard]] virtual used_units used() const noexcept { left_out(); }
  [[nodiscard]] virtual bool knows(std::uint64_t) const noexcept { left_out(); }

  // ---- Views change
  /// What threads have mapped is gone, and so are private copies: the region's views are about to show something else.
  /// Nothing is under way.
  virtual void on_views_gone() noexcept {}
  /// The same, and nodes of its host have frames of their own from now on.
  virtual void on_frames_apart() noexcept {}

  // ---- The region goes
  /// This node has all that it has asked for, and will tell others nothing by itself. No thread asks for anything
  /// meanwhile.
  [[nodiscard]] virtual bool at_rest() noexcept { return outstanding() == 0; }
  /// Its tables go, and what it has of the memory that the machines of a node share. Asked for nothing any more but
  /// protocol() and units().
  virtual void forget() noexcept {}

 private:
  /// The part of a protocol that leaves it out.
  template <class Part>
  [[nodiscard]] static Part& none() noexcept {
    struct all_left_out final : Part {};
    static constinit all_left_out part;
    return part;
  }

  protocol_id protocol_;
};

}  // namespace quire::model
