// SPDX-License-Identifier: BSD-3-Clause
// Home-based lazy release consistency as a machine without I/O, for the units of one region on one node: twins, diffs to
// homes at a release, invalidation at an acquire, homes that move. After Zhou, Iftode and Li, "Performance Evaluation of Two
// Home-Based Lazy Release Consistency Protocols" (OSDI 1996), and ParADE, section 5.2 (multi-threaded nodes, migratory home).
// README.md has the table of transitions; node.hpp is the part that all regions of a node share: intervals and notices.
//
// Called on the driver's thread by the engine, and by the simulator. Diffs and notices do not come as messages of a unit:
// node.hpp and the engine unpack them and call on_diff, on_notice, on_release.
#pragma once

#include <quire/quire.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/fault_heap.hpp"
#include "model/handover.hpp"
#include "model/machine.hpp"
#include "protocol/release/interval.hpp"
#include "protocol/release/state.hpp"

namespace quire::release {

using model::actions;
using model::fault_outcome;
using model::message;

/// What is to be done with a diff that has arrived.
enum class diff_outcome : std::uint8_t {
  apply,    ///< this is the home: write it into the content, and acknowledge
  collect,  ///< this is the home, and a parallel block is to be checked: keep it for the end, and acknowledge
  own,      ///< it is this node's own, which has become the home meanwhile: acknowledge, its content has it
  forward,  ///< the home has moved on, or a diff before this one has not come back from where it was: to way_of(unit)
};

/// What is to be done with content that a home has sent unasked.
enum class update_outcome : std::uint8_t {
  drop,
  replace,  ///< it is the content of the copy now
  merge,    ///< what differs from the copy's twin was written by others: into the copy, and the twin
};

inline constexpr model::protocol_id id{QUIRE_RELEASE};

class machine final : public model::machine, public model::page_locking, public model::broadcasting, public model::paging, public model::succession {
 public:
  [[nodiscard]] model::page_locking& pins() noexcept override { return *this; }
  [[nodiscard]] model::broadcasting& pushes() noexcept override { return *this; }
  [[nodiscard]] model::paging& frames() noexcept override { return *this; }
  [[nodiscard]] model::succession& successor() noexcept override { return *this; }
  /// The table has shape.units elements, zero at first, and outlives the machine; so does `open`.
  machine(const region_shape& shape, unit_state* units, interval& open)
      : model::machine(id), shape_(shape), units_(units), open_(open) {}
  /// The table lasts as long as the machine.
  void own(base::fault_ptr<machine_tables> tables) noexcept { own_ = std::move(tables); }

  fault_outcome on_fault(std::uint64_t unit, access want, actions& out, unsigned lost = 0) override;
  bool on_read_ahead(std::uint64_t unit, access want, bool withhold, actions& out, bool guessed = false) override;
  bool on_hint(std::uint64_t unit, access want, actions& out) override;
  bool on_fault_around(std::uint64_t unit, actions& out) override;
  void on_atomic(const message& call, actions& out) override;
  void on_message(const message& m, actions& out) override;

  /// An operation of `operate` or `operate_here` has changed the content: called before its reply is sent, or its call ends.
  void on_operated(std::uint64_t unit) override;
  /// A node that wrote `unit` has sent its diff here, or a part of it; `writer` made it, and who sent it knew of `moves` moves of the home. `begins`: the
  /// first part of an interval.
  [[nodiscard]] diff_outcome on_diff(std::uint64_t unit, node_id writer, std::uint16_t moves, bool begins);
  /// An acquire has brought the news that `writer` wrote `unit` in one of its intervals: a copy here that does not have it goes,
  /// what was changed in it to the home first.
  void on_notice(std::uint64_t unit, node_id writer, std::uint32_t interval, actions& out);
  /// The notice that this node wrote `unit` in `interval` is about to be told: those who will read it get it now (update.cpp).
  void on_told(std::uint64_t unit, std::uint32_t interval, actions& out);
  /// The diffs that came with `unit` of interval::merged are in the content, and acknowledged: its partner gets it now.
  void on_merged(std::uint64_t unit, actions& out);
  /// The home has sent what it wrote. What is to be done with the content that came with it.
  [[nodiscard]] update_outcome on_update(const message& m, actions& out);
  /// The same, of what it changed between two of its intervals, as a diff. True if that is to be written into the copy here, and into
  /// its twin if it has one.
  [[nodiscard]] bool on_patch(const message& m, actions& out);
  /// Where written units are found without faults: a thread here may have written `unit` since this was said last.
  void on_written(std::uint64_t unit);
  /// The diff that `send_diff` asked for, without `keep`, has something to say.
  void on_differs(std::uint64_t unit);
  /// This node's interval ends, in which `unit` was written: what was changed goes to the home.
  void on_release(std::uint64_t unit, actions& out);
  /// Twins are short: what was changed so far goes to the home. The unit stays written in the open interval.
  void on_twins_short(std::uint64_t unit, actions& out);
  /// In the barrier epoch that has just ended, only `writer` wrote `unit`: its home moves there, is offered to it, or stays.
  void on_only_writer(std::uint64_t unit, node_id writer, actions& out);
  /// News that the home of `unit` moved, for the `moves`th time, to `home`. Only while no diff of this node is on its way:
  /// a request must not overtake the diff that it is to see.
  void on_moved(std::uint64_t unit, node_id home, std::uint16_t moves);

  // Units that keep their right to be written from interval to interval (kept.cpp). At each release the node asks which have been written.
  /// Such a unit is to give it up: from now on it is noticed whether it is written.
  void on_keep_ends(std::uint64_t unit, actions& out);
  /// And it is known (on_written) whether it was written before that.
  void on_keep_over(std::uint64_t unit, actions& out);
  [[nodiscard]] bool is_kept(std::uint64_t unit) const noexcept { return unit < shape_.units && units_[unit].kept != 0; }

  // Page locking (KOAN; pinning.cpp). The pin of a unit is a lock that its home keeps: who has it keeps the others' requests for the
  // unit waiting there. Ending a pin releases, getting it acquires. Threads that wait are woken, and call on_pin_again().
  /// A thread wants `unit` pinned: counts even if it must wait. `local`: it is pinned now, and its content is here.
  fault_outcome on_pin(std::uint64_t unit, actions& out) override;
  fault_outcome on_pin_again(std::uint64_t unit, actions& out) override;
  /// A thread ends its pin. False if no thread of this node has pinned the unit; then nothing changes.
  [[nodiscard]] bool on_unpin(std::uint64_t unit, actions& out) override;
  /// A thread that waits for a pin waits no longer. The pin may still come, and is given back.
  void on_pin_given_up(std::uint64_t unit, actions& out) override;
  /// Ends all pins of `unit` at once: the node leaves.
  void on_pins_dropped(std::uint64_t unit, actions& out) override;
  [[nodiscard]] bool is_pinned(std::uint64_t unit) const noexcept override { return units_[unit].pinned != 0; }
  /// At the home: who has the pin; this node itself if nobody has.
  [[nodiscard]] node_id holder_of(std::uint64_t unit) const noexcept override;
  /// At the home: a pin_grant with content is about to be sent.
  void on_grant_leaves(std::uint64_t unit, actions& out);
  /// Content that comes with a pin may be placed.
  [[nodiscard]] bool awaits_grant(std::uint64_t unit) const noexcept override { return units_[unit].pin_data != 0; }
  /// What comes with the pin is as new as all that this node has heard of the unit.
  [[nodiscard]] bool grant_is_current(std::uint64_t unit) const noexcept { return units_[unit].pin_data != 0 && units_[unit].stale == 0; }
  /// It is so all the same.
  void on_covered(std::uint64_t unit) noexcept { units_[unit].stale = 0; }

  // Push and page broadcasting (KOAN; broadcast.cpp).
  /// From now on it is noticed whether threads here write `unit`. A release has just ended the open interval.
  void on_produce_begin(std::uint64_t unit, actions& out) override;
  /// Ends that. True if this node has written `unit` in the phase: push it. After a release.
  [[nodiscard]] bool on_produce_end(std::uint64_t unit) override;
  /// A thread here calls for a push of `unit`; `token` is told when all nodes have it. After a release.
  void on_push(std::uint64_t unit, std::uint64_t token, actions& out) override;
  /// Whether content that comes unasked may be used.
  [[nodiscard]] bool awaits_spread(std::uint64_t unit) const noexcept {
    const unit_state& s = units_[unit];
    const bool waits = s.pending() != access::none || s.asked != 0 || s.pin_data != 0;
    return !is_home(unit) && s.valid == 0 && s.version != given_away && !waits && !checked_;
  }
  /// It is in its place. `zero`: it was never written.
  void on_spread_copy(std::uint64_t unit, bool zero, actions& out);

  // Page-out (paging.cpp).
  [[nodiscard]] model::frame_use use_of_frame(std::uint64_t unit) const noexcept override;
  void on_drop_copy(std::uint64_t unit, actions& out) override;
  void on_unmap(std::uint64_t unit, actions& out) override;
  bool on_please_take(std::uint64_t unit, actions& out) override;

  // The region's consistency changes (change.cpp). No message about any of its units is on its way, and there are no twins.
  /// Homes stay where they are, or may move again.
  void stay(bool keep) noexcept override { homes_stay_ = keep; }
  /// Gives up what is known of `unit`, as if it had never been used. Copies that are no home's go.
  [[nodiscard]] model::handover give(std::uint64_t unit, actions& out) override;
  /// Goes on from what another protocol knew. Who is to be the home hears of it from the unit's manager.
  void take(std::uint64_t unit, const model::handover& h, actions& out) override;
  // Parallel blocks (blocks.cpp). In those that are checked (KOAN) the home keeps each unit as it was before (its twin), from its own first write on,
  // and shows others nothing else; no copy is taken away before the end.
  void check(bool checked) noexcept { checked_ = checked; }
  /// A checked block is about to begin. Where writes are found by scans they end here, until threads may fault again: the last of them could come to
  /// a home that keeps them apart already, and shows their own writer what was before.
  void on_block_ahead(std::uint64_t unit, actions& out);
  /// A block begins under this protocol, which is in charge before it already, and all that was written is at the homes.
  void on_block_begin(std::uint64_t unit, actions& out);
  /// The block is about to end: from now on a write here is one after it.
  void on_block_end(std::uint64_t unit, actions& out);
  /// In a block that is checked: whether this is the home, and has written `unit`: then its twin is as it was before.
  [[nodiscard]] bool has_base(std::uint64_t unit) const noexcept { return units_[unit].is_home != 0 && units_[unit].twin != 0; }
  /// In any block: which bytes of `unit` this node writes is known beforehand, and sent as they are. Too late for what it has
  /// written already.
  void on_declared(std::uint64_t unit);
  [[nodiscard]] bool is_declared(std::uint64_t unit) const noexcept { return units_[unit].declared != 0; }
  /// It is needed no longer.
  void on_base_dropped(std::uint64_t unit);
  /// The block is over, the content at the home is that of all, and this protocol stays in charge.
  void on_block_over(std::uint64_t unit, actions& out);

  /// Units for which there is anything to give.
  [[nodiscard]] model::used_units used() const noexcept override { return used_; }
  [[nodiscard]] bool knows(std::uint64_t u) const noexcept override { return units_[u].touched != 0; }
  void all_given() noexcept override { used_.clear(); }

  void forget() noexcept override;

  [[nodiscard]] const region_shape& shape() const noexcept { return shape_; }
  [[nodiscard]] const unit_state& unit(std::uint64_t u) const noexcept { return units_[u]; }
  [[nodiscard]] const counters& count() const noexcept { return count_; }
  /// Where this node believes the home to be.
  [[nodiscard]] node_id home_of(std::uint64_t unit) const noexcept { return is_home(unit) ? shape_.self : way_of(unit).to; }
  [[nodiscard]] node_id authority_of(std::uint64_t unit) const noexcept override { return home_of(unit); }
  struct way {
    node_id to{};
    std::uint16_t moves = 0;
  };
  /// Where messages for the home go from here, and how many moves they are to say. A home that passes on to where the home was before says
  /// none: what comes back must not be taken for the message of one who knows that the home is here.
  [[nodiscard]] way way_of(std::uint64_t unit) const noexcept {
    const unit_state& s = units_[unit];
    if (s.touched == 0) return {shape_.managers.of(unit), 0};
    return {s.home, s.is_home != 0 ? std::uint16_t{0} : s.moves};
  }
  [[nodiscard]] bool is_home(std::uint64_t unit) const noexcept {
    return units_[unit].touched != 0 ? units_[unit].is_home != 0 : shape_.managers.of(unit) == shape_.self;
  }
  [[nodiscard]] access mapped(std::uint64_t u) const noexcept override { return units_[u].mapped(); }
  [[nodiscard]] bool awaits_content(std::uint64_t unit) const noexcept override {
    const unit_state& s = units_[unit];
    return s.asked != 0 && s.pending() != access::none && s.is_home == 0 && s.valid == 0;
  }
  [[nodiscard]] bool is_written(std::uint64_t unit) const noexcept override { return units_[unit].written != 0; }
  [[nodiscard]] bool keeps(std::uint64_t unit) const noexcept override { return is_home(unit); }
  [[nodiscard]] bool has_content(std::uint64_t unit) const noexcept override {
    return is_home(unit) || units_[unit].valid != 0;
  }
  [[nodiscard]] std::uint64_t units() const noexcept override { return shape_.units; }
  [[nodiscard]] std::uint64_t outstanding() const noexcept override { return outstanding_; }
  /// Everything that must hold for one unit on this node alone; the simulator adds what must hold across nodes.
  [[nodiscard]] bool is_valid(std::uint64_t unit) const noexcept;

 private:
  unit_state& touch(std::uint64_t unit) noexcept;
  void ask(std::uint64_t unit, unit_state& s, access want, actions& out, std::uint8_t flags = 0);
  void send(node_id to, const message& m, bool with_content, actions& out) const;
  void send_home(const message& m, actions& out) const;
  [[nodiscard]] bool is_for_here(const unit_state& s, node_id requester, std::uint16_t moves) const noexcept;
  [[nodiscard]] bool passes_on(const message& m, const unit_state& s, actions& out);
  void permit(std::uint64_t unit, unit_state& s, access level, actions& out) const;
  void protect(std::uint64_t unit, unit_state& s, access level, actions& out) const;
  void note_write(std::uint64_t unit, const unit_state& s);
  void list(std::uint64_t unit, unit_state& s);
  void write_here(std::uint64_t unit, unit_state& s);
  void keep_base(std::uint64_t unit, unit_state& s, actions& out);
  void close_home(std::uint64_t unit, unit_state& s, actions& out);
  void allow(std::uint64_t unit, unit_state& s, access want, actions& out);
  void send_diff(std::uint64_t unit, unit_state& s, bool keep, actions& out);
  void arrived(std::uint64_t unit, unit_state& s, actions& out);
  void believe(unit_state& s, node_id home, std::uint16_t moves) const noexcept;
  void move_home(std::uint64_t unit, unit_state& s, node_id to, std::uint8_t how, actions& out);
  void on_copy_request(const message& m, actions& out);
  void reply_with_copy(const message& m, unit_state& s, actions& out);
  void operate_for(const message& m, unit_state& s, actions& out);
  void on_copy_reply(const message& m, actions& out);
  void on_home_move(const message& m, actions& out);
  void on_home_offer(const message& m, actions& out);
  [[nodiscard]] bool knows_copies(const unit_state& s) const noexcept;
  void ask_for_home(std::uint64_t unit, unit_state& s, actions& out);
  void take_copy(std::uint64_t unit, unit_state& s, actions& out);
  void watch_writes(std::uint64_t unit, unit_state& s, actions& out) const;
  // kept.cpp
  [[nodiscard]] bool may_keep(const unit_state& s) const noexcept;
  void keep(std::uint64_t unit, unit_state& s);
  void keep_home(std::uint64_t unit, unit_state& s, std::uint32_t interval, actions& out);
  void drop_twin(std::uint64_t unit, unit_state& s, actions& out);
  void send_patch(std::uint64_t unit, unit_state& s, model::copyset to, std::uint32_t interval, std::uint8_t flags, actions& out);
  [[nodiscard]] static bool follows_home(const unit_state& s) noexcept;
  // update.cpp
  [[nodiscard]] model::copyset take_readers(unit_state& s, std::uint8_t& flags) const noexcept;
  [[nodiscard]] bool is_looked_at(const message& m, unit_state& s, actions& out);
  void note_reader(unit_state& s, node_id reader) const noexcept;
  void count_streak(std::uint64_t unit, unit_state& s, node_id writer, bool again);
  void note_writer(std::uint64_t unit, unit_state& s, node_id writer);
  void note_fetch(unit_state& s, node_id reader) const noexcept;
  static void end_partnership(unit_state& s) noexcept;
  void send_update(std::uint64_t unit, unit_state& s, model::copyset to, std::uint32_t interval, std::uint8_t flags, actions& out);
  void offer(model::action& a, model::message_kind kind, model::copyset to, std::uint32_t interval, std::uint8_t flags);
  void on_update_unused(const message& m);
  void on_home_atomic(const message& m, actions& out);
  void on_atomic_reply(const message& m, actions& out);
  // paging.cpp
  [[nodiscard]] bool may_give(const message& m, const unit_state& s) const noexcept;
  [[nodiscard]] bool may_leave(const unit_state& s) const noexcept;
  /// Whether a diff of this node, of any unit, is not known to be in its home's content.
  [[nodiscard]] bool awaits_homes() const noexcept;
  // pinning.cpp
  struct grant {
    std::uint64_t unit = 0;
    bool held = false;
    node_id holder{};
    base::fault_vector<message> queue{};  ///< first come, first served
  };
  [[nodiscard]] const grant* find_grant(std::uint64_t unit) const noexcept;
  [[nodiscard]] grant* find_grant(std::uint64_t unit) noexcept { return const_cast<grant*>(static_cast<const machine*>(this)->find_grant(unit)); }
  grant& make_grant(std::uint64_t unit, unit_state& s);
  void drop_grant(std::uint64_t unit, unit_state& s);
  [[nodiscard]] bool must_wait(std::uint64_t unit, const unit_state& s, node_id who) const;
  void put_off(const message& m);
  void unpin(std::uint64_t unit, std::uint32_t times, actions& out);
  void end_pin(std::uint64_t unit, unit_state& s, actions& out);
  void give_pin(const message& m, unit_state& s, grant& g, actions& out);
  void serve_next(std::uint64_t unit, unit_state& s, actions& out);
  void on_pin_request(const message& m, actions& out);
  void on_pin_grant(const message& m, actions& out);
  void on_pin_end(const message& m, actions& out);
  void on_pin_next(const message& m, actions& out);
  void on_spread_request(const message& m, actions& out);  // broadcast.cpp

  region_shape shape_;
  unit_state* units_;
  base::fault_ptr<machine_tables> own_{};
  interval& open_;
  counters count_{};
  model::used_units used_{};
  base::fault_vector<grant> grants_{};  ///< of units whose home is here, in order
  std::uint64_t outstanding_ = 0;
  bool homes_stay_ = false;
  bool checked_ = false;
};

/// The machine of a region that this protocol decides for; null if another one does.
[[nodiscard]] inline machine* in_charge(model::machine* m) noexcept {
  return m != nullptr && m->protocol() == id ? static_cast<machine*>(m) : nullptr;
}

}  // namespace quire::release
