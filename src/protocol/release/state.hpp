// SPDX-License-Identifier: BSD-3-Clause
// State of the release protocol: what a node remembers of each unit. All zero is the initial state, so that tables of a
// terabyte of units cost nothing until touched.
#pragma once

#include <cstdint>

#include "directory/placement.hpp"
#include "model/copyset.hpp"
#include "model/ids.hpp"
#include "model/membership.hpp"
#include "protocol/contract/row.hpp"
#include "protocol/contract/table_memory.hpp"

namespace quire::release {

using model::access;
using model::node_id;

/// Of a copy that did not come as the answer to a request, or is no copy at all: it takes no updates.
inline constexpr std::uint32_t no_version = ~std::uint32_t{0};
/// Of no copy: the frame's content has gone with the home, and the message may still be reading it. Nothing is placed
/// there unasked.
inline constexpr std::uint32_t given_away = no_version - 1;

struct unit_state {
  model::copyset current{};   ///< home: nodes whose copy is as good as the home's
  model::copyset readers{};   ///< home: nodes that fetched it after what the home wrote; see update.cpp
  std::uint32_t version = 0;  ///< copy: it has what `source` wrote up to this interval; or one of the above. At the
                              ///< home: the same of its twin if it is kept, else how it changes hands (migratory.hpp)
  node_id source{};  ///< copy: the home that it came from; pending: see `follows`; home: the partner, see update.cpp
  node_id home{};    ///< where the home is, or was when this node last heard; at a home that was one before: where it
                     ///< went then
  std::uint16_t moves = 0;       ///< how often the home had moved by then, see is_newer()
  std::uint8_t touched : 1 = 0;  ///< `home` and `is_home` have been set
  std::uint8_t is_home : 1 = 0;
  std::uint8_t shared : 1 = 0;   ///< home: somebody may have a copy that no notice of this node so far will take away
  std::uint8_t valid : 1 = 0;    ///< not the home: the copy here may be used
  std::uint8_t twin : 1 = 0;     ///< a twin exists: the copy may differ from it
  std::uint8_t listed : 1 = 0;   ///< in the list of units written in the open interval
  std::uint8_t written : 1 = 0;  ///< the content may differ from zero
  std::uint8_t stale : 1 =
      0;  ///< pending: what is on its way may be older than a notice that came meanwhile, whoever sends it
  std::uint8_t assigned : 1 = 0;    ///< first-touch placement: the home is settled
  std::uint8_t mapped_ : 2 = 0;     ///< access that the application view permits
  std::uint8_t pending_ : 2 = 0;    ///< access wished for since the content was asked for
  std::uint8_t withhold : 1 = 0;    ///< do not map on arrival: the first touch is to be noticed
  std::uint8_t read_ahead : 1 = 0;  ///< asked for by read-ahead, and not touched by a thread since
  std::uint8_t useless : 1 = 0;     ///< was read ahead and invalidated untouched: do not read ahead again
  std::uint8_t declared : 1 =
      0;  ///< in a block: which bytes this node writes is known; no twin is made, although `twin` says so
  std::uint8_t was_home : 1 =
      0;  ///< has been home and gave it away, and may be it again: what it passed on meanwhile may come back
  std::uint8_t news : 1 = 0;  ///< in a block that is checked: another node has written, and a copy here goes at the end
  std::uint8_t asked : 1 =
      0;  ///< a request for the content is on its way; it ends with its reply, or comes back to its home
  std::uint8_t follows : 1 =
      0;  ///< copy: this node has not written it since it came, so updates of `source` may replace it; pending:
          ///< notices came meanwhile, `source` has told of them all, and content that it sends has them
  std::uint8_t fetched : 1 = 0;  ///< home: somebody has fetched it since it last told what it wrote
  std::uint8_t again : 1 = 0;    ///< home: somebody who had fetched it before that, too
  std::uint8_t sampled : 1 = 0;  ///< copy: not mapped since an update came, to see whether that is used
  std::uint8_t credit : 7 = 0;   ///< home: updates to be sent before readers have to ask again
  std::uint8_t behind : 1 = 0;   ///< home: what this node wrote since it sent the content to the partner has been told
  std::uint8_t grant : 3 = 0;    ///< home: binary logarithm of the next credit
  std::uint8_t partnered : 1 = 0;  ///< home: of all others, `source` wrote it last
  std::uint8_t paired : 1 = 0;     ///< home: and fetched it again after that: it is sent the content of both
  std::uint8_t merged : 1 = 0;     ///< home: the content has what the partner wrote since it was sent the content last
  std::uint8_t streak : 2 =
      0;  ///< home: intervals in a row in which one other node, and nobody else, has written it, as far as is known

  std::uint8_t producing : 1 = 0;  ///< in a production phase, and not written yet
  // Page locking (pinning.cpp).
  std::uint8_t pinned : 1 = 0;     ///< this node has the pin
  std::uint8_t pin_asked : 1 = 0;  ///< and has asked the home for it, or waits in the home's queue if it is the home
  std::uint8_t pin_data : 1 = 0;   ///< the content comes with the pin, and no other way
  std::uint8_t granted : 1 = 0;    ///< home: some node has the pin, or others wait for something
  std::uint8_t pin_ended : 1 = 0;  ///< home: threads here have ended pins, and have not released to who is next
  // Units that keep their right (kept.cpp).
  std::uint8_t steady : 1 =
      0;  ///< copy: written in an interval before; home: somebody was to be sent an update of it before
  std::uint8_t kept : 1 =
      0;  ///< written in every interval, or nearly: threads may go on writing it, and its twin stays, at the home too

  [[nodiscard]] access mapped() const noexcept { return static_cast<access>(mapped_); }
  [[nodiscard]] access pending() const noexcept { return static_cast<access>(pending_); }
  void set_mapped(access a) noexcept { mapped_ = static_cast<std::uint8_t>(a); }
  void set_pending(access a) noexcept { pending_ = static_cast<std::uint8_t>(a); }
  friend bool operator==(const unit_state&, const unit_state&) noexcept = default;
};
static_assert(sizeof(unit_state) == 32);

/// Of two beliefs where a home is, whether the one after `moves` moves is newer. Counts begin again after 65,535,
/// with 1. Who is half of that behind takes news for old: its messages go a longer way, by nodes that were home.
[[nodiscard]] constexpr bool is_newer(std::uint16_t moves, std::uint16_t than) noexcept {
  return moves != 0 && (than == 0 || static_cast<std::int16_t>(moves - than) > 0);
}
[[nodiscard]] constexpr std::uint16_t after(std::uint16_t moves) noexcept {
  return moves == 0xffff ? 1 : static_cast<std::uint16_t>(moves + 1);
}

/// What becomes of a unit when a node has died (loss.hpp).
enum class outcome : std::uint8_t {
  none,
  kept,    ///< its home lives
  chosen,  ///< a copy is the content from now on
  lost,
};

/// Of a unit, while the survivors of a death find its home. Names of nodes are their numbers and one.
struct claim {
  // At the unit's manager, as reported.
  std::uint64_t copies = 0;                 ///< nodes whose copy counts
  std::uint64_t asks = 0;                   ///< nodes that want to hear where the home is
  std::uint8_t home = 0;                    ///< who says that it is, and
  std::uint8_t home_since = 0;              ///< how many were dead when survivors chose it; 0: they did not
  std::uint8_t owes = 0, held = 0;          ///< whose diffs may be lost; whose are kept back. 255: of several nodes
  std::uint8_t own_owes = 0, own_held = 0;  ///< the same, of this node's report
  std::uint8_t own_since = 0;               ///< as home_since, of this node, which was chosen last then
  std::uint8_t at = 0;                      ///< the home, if this node knows
  outcome how = outcome::none;              ///< and how that came
  std::uint8_t lost = 0;                    ///< nobody has it: for good
  friend bool operator==(const claim&, const claim&) noexcept = default;
};

/// Whether homes send what they wrote to those that will read it (update.cpp).
enum class updates : std::uint8_t {
  never,
  learned,  ///< to those that have read it before, again and again
  always,   ///< to all that have read it once; for tests
};

/// How many epochs in a row the home alone has written a unit, and the last of them (lone_writes.hpp).
struct lone_count {
  std::uint8_t epochs = 0, last = 0;
};

/// Of a machine that has its own.
struct machine_tables {
  explicit machine_tables(const protocol::table_memory& from) noexcept : units(from), lone(from), claims(from) {}
  protocol::table<unit_state> units;
  protocol::table<lone_count> lone;  ///< where writes are traced, but for those that nobody could miss
  protocol::table<claim> claims;     ///< where nodes survive others
};

/// What a machine needs to know of its region and job.
struct region_shape {
  model::region_id region{};
  node_id self{};
  model::geometry nodes{};
  directory::manager_map managers{};  ///< homes at the beginning
  std::uint64_t units = 0;
  std::uint32_t twin_pages = 1;    ///< what a twin counts for
  std::uint32_t units_a_page = 1;  ///< numbers of units of a page, all of which a thread may need at a time
  bool scans = false;              ///< written units are found by on_written(), and no write faults
  bool first_touch = false;        ///< the first node that asks for a unit becomes its home
  bool migrates = true;            ///< homes move to the only writer of a barrier epoch
  bool moves_between = false;      ///< and between barriers, to a node that alone writes again and again: nobody polls
                                   ///< words of the region at their home
  bool pages_out = false;          ///< nodes give up copies without a word
  updates update = updates::learned;
  protocol::migratory migratory = protocol::migratory::learned;
  const model::membership* members = nullptr;  ///< null: the job ends when a node is lost
  bool traces = false;  ///< all that threads write is noticed, at homes too, and can be compared with what was before
  bool keeps = false;   ///< what is written in every interval is not protected in between (kept.cpp)
  bool one_memory = false;  ///< all nodes have their frames together: what one writes is in the content of all

  /// The first unit of its page.
  [[nodiscard]] std::uint64_t first_beside(std::uint64_t unit) const noexcept { return unit - unit % units_a_page; }
};

struct counters {
  std::uint64_t read_faults = 0, write_faults = 0, local_faults = 0, racing_faults = 0;
  std::uint64_t twins = 0;          ///< made
  std::uint64_t invalidations = 0;  ///< copies that a notice took away
  std::uint64_t stale_replies = 0;  ///< content that had to be asked for again
  std::uint64_t home_moves =
      0;  ///< units that this node gave away: to their only writer, to the first who touched them, or to save memory
  std::uint64_t migrated = 0;         ///< of them, to who asked for a unit that nodes write in turn,
  std::uint64_t migrated_unused = 0;  ///< and did not write it
  std::uint64_t forwarded = 0;        ///< messages for a home that this node passed on
  std::uint64_t read_ahead_units = 0, read_ahead_wasted = 0, atomics = 0;
  std::uint64_t copies_dropped = 0;       ///< given up to save memory
  std::uint64_t updates_sent = 0;         ///< units, times readers
  std::uint64_t updates_applied = 0;      ///< units that came before they were asked for, and were of use
  std::uint64_t kept = 0;                 ///< how often a unit began to keep its right
  std::uint64_t host_units = 0;           ///< units whose content was not sent, as the receiver has the same frame
  std::uint64_t pins = 0, pin_waits = 0;  ///< units pinned; requests that waited for the end of a pin
};

}  // namespace quire::release
