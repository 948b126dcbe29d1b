// SPDX-License-Identifier: BSD-3-Clause
// Page-out (KOAN): a node whose units take more memory than QUIRE_MEMORY_LIMIT gives frames up. In this order:
//
//   1. frames without content that means anything: of units that other nodes have taken; nobody needs to know
//   2. clean copies of what other nodes have, but for an eighth of the limit, more where it is small: what has just
//   come is to be of use
//   3. what only this node has, to another node that has room: it is asked to take the units, and does so as if to
//   write
//   4. the same, to the region's store: a file
//
// Frames go in the order in which they came; one that threads use is unmapped first, and goes when it comes to the
// front again without having been touched (second chance). Those that threads were let into last stay. Nothing goes
// while a message that is being sent may still read its frame.
//
// A frame with several units (minipages) goes when all of them may: what one needs, the frame is needed for. It never
// goes to another node, whose units of the same page are others.
//
// All of this on the driver's thread, between steps of the machines: after a fault, and in every round of driving. The
// crew writes to stores; a frame that is used while it is on its way there stays.
#include "core/page_out.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "core/absent_units.hpp"
#include "core/configuration.hpp"
#include "core/content.hpp"
#include "core/core.hpp"
#include "core/fault.hpp"
#include "core/frames.hpp"
#include "core/host.hpp"
#include "core/message_table.hpp"
#include "core/outbox.hpp"
#include "core/region_slot.hpp"
#include "core/stored_units.hpp"
#include "core/transactions.hpp"
#include "model/action.hpp"
#include "transport/transport.hpp"

namespace quire::core {

using model::frame_use;
using model::message;
using model::message_kind;
using model::node_id;

namespace {
constexpr std::uint64_t step_bytes = 1 << 20;            ///< bytes that leave in one go
constexpr std::uint64_t least_room = 1 << 16;            ///< that is worth a question
constexpr std::uint64_t answer_time_ns = 2'000'000'000;  ///< for a node that was asked to take units
constexpr std::uint64_t arrival_time_ns = 5'000'000;     ///< for the units, after its answer
constexpr std::uint64_t sweep_rest_ns = 1'000'000;       ///< between two looks for frames that mean nothing
constexpr std::uint64_t shortest_rest_ns = 300'000;      ///< of a node that had no room: it is asked again after that,
constexpr std::uint64_t longest_rest_ns = 50'000'000;    ///< and later each time
constexpr std::uint64_t disk_rest_ns = 1'000'000'000;    ///< after the file could not be written
constexpr std::uint64_t press_rest_ns = 1'000'000;       ///< between two words to nodes that take too much

bool goes_with(const page_out_state::victim& before, const page_out_state::victim& v) noexcept {
  return v.region == before.region && v.frame == before.frame + 1 && v.goes == before.goes && v.taker == before.taker;
}
}  // namespace

void page_out_state::open(unsigned nodes, std::uint64_t limit) {
  peers.assign(nodes, {limit});  // the limit is the job's: they have as much
  victims.reserve(step_bytes >> 12);
  moving.reserve(step_bytes >> 12);
}

void pager::page_out() noexcept {
  page_out_state& p = page_out_;
  if (core_.out.turn_period()) core_.frames.on_period();
  if (!p.moving.empty()) settle_moves();
  if (core_.frames.over() && starved()) sweep_unused(core_.frames.own);
  if (core_.frames.over()) {
    const std::uint64_t step = std::min(core_.frames.limit() / 16, step_bytes);
    const std::uint64_t goal =
        std::min(core_.frames.used() - core_.frames.leaving() - core_.frames.limit() + step / 2, step);
    const std::uint64_t copies = core_.frames.came.bytes(),
                        share = std::max(core_.frames.limit() / 8,
                                         std::min<std::uint64_t>(core_.frames.limit() / 4, 1 << 16));
    const std::uint64_t found = copies > share ? choose(core_.frames.came, std::min(goal, copies - share)) : 0;
    // What others ask for while units are on their way to a node makes more of them leave, to the file.
    if (found < goal && (p.moving.empty() || core_.frames.is_over_by(4))) (void)choose(core_.frames.own, goal - found);
    leave();
  }
  if (core_.frames.others_are_over()) press();
  if (p.anybody_starves() && !starved()) feed();
}

/// The strongest use of its units.
frame_use pager::use_of(const region_slot& r, std::uint64_t frame) const noexcept {
  frame_use use = frame_use::none;
  (void)frames::any_unit(r, frame, [&](std::uint64_t unit) {
    use = std::max(use, r.machine->frames().use_of_frame(unit));
    return use == frame_use::busy;
  });
  return use;
}

/// Threads that touch any unit of it fault from now on; rights stay.
void pager::unmap(region_slot& r, std::uint64_t frame) noexcept {
  (void)frames::any_unit(r, frame, [&](std::uint64_t unit) {
    if (r.machine->mapped(unit) == model::access::none) return false;
    core_.actions.clear();
    r.machine->frames().on_unmap(unit, core_.actions);
    core_.take_step(r);
    return false;
  });
}

void pager::drop_copies(region_slot& r, std::uint64_t frame) noexcept {
  (void)frames::any_unit(r, frame, [&](std::uint64_t unit) {
    if (r.machine->frames().use_of_frame(unit) != frame_use::copy) return false;
    core_.actions.clear();
    r.machine->frames().on_drop_copy(unit, core_.actions);
    core_.take_step(r);
    if (r.can().transactions) core_.transactions.on_copy_dropped();
    return false;
  });
}

/// The first of a queue that may be chosen. False: there is none.
bool pager::next_of(frame_queue& from, frame_queue::entry& e) noexcept {
  while (from.size() != 0) {
    e = from.pop();
    if (core_.frames.dequeued(*core_.regions.slot(model::region_id{static_cast<std::uint16_t>(e.region)}), e.frame))
      return true;
  }
  return false;
}

/// Takes about `goal` bytes of victims from the front of a queue. What may not go joins it again.
std::uint64_t pager::choose(frame_queue& from, std::uint64_t goal) noexcept {
  constexpr std::size_t patience = 4;  // looks, for each victim
  const bool copies = &from == &core_.frames.came;
  std::uint64_t got = 0;
  std::size_t looks = std::min(from.size(), patience * (goal >> 12) + 64), chances = looks / patience;
  frame_queue::entry e;
  for (; looks != 0 && got < goal && next_of(from, e); --looks) {
    region_slot& r = *core_.regions.slot(model::region_id{static_cast<std::uint16_t>(e.region)});
    const std::uint64_t bytes = r.layout.bytes_of_frames(e.frame, 1);
    const bool fixed = r.change.frozen || r.block != nullptr || r.detector->scans() ||
                       core_.frames.is_moving(r, e.frame) || core_.frames.was_let_in(r, e.frame) ||
                       core_.absent.holds_frame(r, e.frame);
    const frame_use use = fixed ? frame_use::busy : use_of(r, e.frame);
    const auto is_mapped = [&](std::uint64_t unit) { return r.machine->mapped(unit) != model::access::none; };
    if (use == frame_use::busy) {
      core_.frames.enqueue(r, e.frame, from);
    } else if (copies && use == frame_use::needed) {
      core_.frames.enqueue(r, e.frame, core_.frames.own);
    } else if (use != frame_use::none && chances != 0 && frames::any_unit(r, e.frame, is_mapped)) {
      --chances;
      unmap(r, e.frame);
      core_.frames.enqueue(r, e.frame, from);
    } else {
      page_out_.victims.push_back({&r, e.frame, use});
      got += bytes;
    }
  }
  return got;
}

/// The victims go, each its way.
void pager::leave() noexcept {
  page_out_state& p = page_out_;
  const std::uint64_t now = core_.host.now();
  const bool resting = now < p.disk_rests_until_ns, none_moves = p.moving.empty();
  node_id taker = find_taker(now, 0);
  for (page_out_state::victim& v : p.victims) {
    model::machine& machine = *v.region->machine;
    const bool content = frames::any_unit(*v.region, v.frame, [&](std::uint64_t unit) {
      return machine.frames().use_of_frame(unit) == frame_use::needed && machine.is_written(unit);
    });
    if (content && v.region->backing != nullptr &&
        machine.authority_of(v.region->layout.units_of(v.frame).first) == core_.config.self) {
      v.goes = way_of_backed(*v.region, v.frame);
      if (v.goes == page_out_state::way::to_backing) unmap(*v.region, v.frame);
      continue;
    }
    if (content && v.region->store ==
                       nullptr) {  // of a region with a store of its own, at the node that has that, unless it is lost
      v.taker = machine.authority_of(v.region->layout.units_of(v.frame).first);
      const bool may_go = none_moves && v.taker != core_.config.self && !p.peers[v.taker.value()].refuses(now);
      v.goes = may_go ? page_out_state::way::to_node : page_out_state::way::stays;
      v.until_ns = now + answer_time_ns;
      continue;
    }
    const bool alone = v.region->layout.units_of(v.frame).count() == 1;
    const std::uint64_t bytes = v.region->layout.bytes_of_frames(v.frame, 1);
    if (content && alone && (taker == core_.config.self || p.peers[taker.value()].room < bytes))
      taker = find_taker(now, bytes);
    if (content && alone && taker != core_.config.self && p.peers[taker.value()].room >= bytes) {
      p.peers[taker.value()].room -= bytes;
      v.taker = taker;
      v.goes = page_out_state::way::to_node;
      v.until_ns = now + answer_time_ns;
      continue;
    }
    if (content && resting) {
      v.goes = page_out_state::way::stays;
      continue;
    }
    v.goes = content ? page_out_state::way::to_disk : page_out_state::way::nowhere;
    if (!content) drop_copies(*v.region, v.frame);
    unmap(*v.region, v.frame);
  }
  core_.perform_steps();  // from here on nobody can touch them
  for (auto at = p.victims.begin(); at != p.victims.end();) {
    auto end = at + 1;
    while (end != p.victims.end() && goes_with(end[-1], *end)) ++end;
    leave_together({at, end});
    at = end;
  }
  p.victims.clear();
  p.refused = false;
}

/// Content of a unit that this node manages, in a region with a store of its own: it has it, or gets it now; then the
/// frame goes later.
page_out_state::way pager::way_of_backed(region_slot& r, std::uint64_t frame) noexcept {
  const std::uint64_t unit = r.layout.units_of(frame).first;
  return core_.stored.begin_flush(r, unit) ? page_out_state::way::to_backing : page_out_state::way::stays;
}

void pager::leave_together(std::span<page_out_state::victim> run) noexcept {
  page_out_state& p = page_out_;
  region_slot& r = *run.front().region;
  const std::uint64_t first = run.front().frame;
  if (run.front().goes == page_out_state::way::to_node) {
    message m;
    m.kind = message_kind::please_take;
    m.region = model::region_id{r.about.id};
    m.from = m.requester = core_.config.self;
    p.moving.insert(p.moving.end(), run.begin(), run.end());
    return core_.out.send_units(r, run.front().taker, m, r.layout.units_of(first).first, run.size(),
                                false);  // of a unit each
  }
  if (run.front().goes == page_out_state::way::to_disk) return core_.frames.begin_flush(r, first, run.size());
  if (run.front().goes == page_out_state::way::to_backing) return core_.frames.leave_to_backing(r, first, run.size());
  if (run.front().goes == page_out_state::way::stays) {
    for (const auto& v : run) core_.frames.enqueue(r, v.frame, core_.frames.own);
    return;
  }
  core_.frames.drop(r, first, run.size());
}

void pager::on_flush_failed(const region_slot& r, int error) noexcept {
  const std::uint64_t now = core_.now();
  if (now >= page_out_.disk_rests_until_ns) {  // else others that were on their way have failed as well
    base::log(base::log_level::warning,
              "cannot write pages to a file in %s: %s; this node takes more memory than QUIRE_MEMORY_LIMIT "
              "until there is room (QUIRE_PAGE_OUT_DIR sets another directory)",
              r.store->where(), std::strerror(error));
  }
  page_out_.disk_rests_until_ns = now + disk_rest_ns;
}

// ---- To other nodes

/// The node that is believed to have most room, for a unit of `bytes` at least; this one, if nobody has any.
node_id pager::find_taker(std::uint64_t now, std::uint64_t bytes) noexcept {
  page_out_state& p = page_out_;
  node_id best = core_.config.self;
  if (!p.moving.empty() || core_.ending.load(std::memory_order_relaxed)) return best;
  const std::uint64_t least = std::max(bytes, least_room);
  std::uint64_t most = 0;
  for (unsigned n = 0; n < p.peers.size(); ++n) {
    page_out_state::peer& peer = p.peers[n];
    const node_id to{static_cast<std::uint16_t>(n)};
    if (to == core_.config.self || has_same_memory(to)) continue;
    // Who was just refused asks nobody who is believed to have none: there might always be one more, and nothing would
    // leave.
    if (peer.room < least && now >= peer.ask_again_ns && !p.refused) peer.room = std::max(least, step_bytes);
    if (peer.room <= most || peer.room < least) continue;
    most = peer.room;
    best = to;
  }
  return best;
}

/// What it takes from this node is in the same frames as before.
bool pager::has_same_memory(node_id node) const noexcept {
  return core_.frames.shares() && core_.config.hosts[node.value()] == core_.config.hosts[core_.config.self.value()];
}

/// Nodes of the host that take more than their share may be computing: they look when a message comes.
void pager::press() noexcept {
  const std::uint64_t now = core_.host.now();
  if (now < page_out_.press_again_ns) return;
  page_out_.press_again_ns = now + press_rest_ns;
  message m;
  m.kind = message_kind::room;
  m.from = m.requester = core_.config.self;
  for (unsigned n = 0; n < core_.config.nodes; ++n) {
    const node_id to{static_cast<std::uint16_t>(n)};
    if (to != core_.config.self && has_same_memory(to)) core_.out.send(to, m, {});
  }
}

/// Gives back frames without content that means anything, among those next in turn.
void pager::sweep_unused(frame_queue& from) noexcept {
  constexpr std::size_t most_looks = 4096;
  frame_queue::entry e;
  for (std::size_t looks = std::min(from.size(), most_looks); looks != 0 && next_of(from, e); --looks) {
    region_slot& r = *core_.regions.slot(model::region_id{static_cast<std::uint16_t>(e.region)});
    if (!r.change.frozen && use_of(r, e.frame) == frame_use::none && !core_.frames.is_moving(r, e.frame)) {
      core_.frames.drop(r, e.frame, 1);
    } else {
      core_.frames.enqueue(r, e.frame, from);
    }
  }
}

void pager::take_over(region_slot& r, const message& m) noexcept {
  const bool asks = !r.change.frozen && !core_.ending.load(std::memory_order_relaxed);
  if (core_.out.turn_period()) core_.frames.on_period();
  const std::uint64_t now = core_.host.now();
  if (asks && core_.frames.room() < r.bytes_of(m.unit, m.count) && now >= page_out_.sweep_again_ns) {
    page_out_.sweep_again_ns = now + sweep_rest_ns;
    sweep_unused(core_.frames.own);
    sweep_unused(core_.frames.came);
  }
  const bool is_home =
      r.backing != nullptr && r.machine->authority_of(m.unit) == core_.config.self;  // what comes goes on to the store
  const bool may = asks && (is_home || core_.frames.room() >= r.bytes_of(m.unit, m.count));
  message answer;
  answer.kind = message_kind::room;
  answer.from = answer.requester = core_.config.self;
  if (may) core_.absent.settle(r, m.unit, m.count);
  for (std::uint64_t unit = m.unit; may && unit < m.unit + m.count; ++unit) {
    if (r.backing != nullptr && core_.absent.is_absent(r, unit)) continue;  // the step could not wait for it
    core_.actions.clear();
    if (!r.machine->frames().on_please_take(unit, core_.actions)) continue;
    // Counts from now on. What is here may be all there is: then the right to write it comes without content.
    use_content(core_.frames, r, unit, 1, r.machine->has_content(unit) ? content::read : content::promised);
    core_.take_step(r);
    ++answer.b;
  }
  core_.perform_steps();
  answer.a = core_.frames.room();
  core_.out.send(m.from, answer, {});
}

/// Offers of units to keep. One may be from before the region's consistency changed.
void pager::take_homes(region_slot& r, const message& m) noexcept {
  if (core_.ending.load(std::memory_order_relaxed) || core_.messages.of(m.kind).of != r.machine->protocol()) return;
  core_.absent.settle(r, m.unit, m.count);
  message one = m;
  one.count = 1;
  for (; one.unit < m.unit + m.count && core_.frames.room() >= r.bytes_of(one.unit); ++one.unit) {
    core_.actions.clear();
    r.machine->on_message(one, core_.actions);
    if (core_.actions.size() == 0) continue;
    use_content(core_.frames, r, one.unit, 1, content::promised);
    core_.take_step(r);
  }
  core_.perform_steps();
}

void pager::on_room(const message& m) noexcept {
  page_out_state& p = page_out_;
  if (m.from.value() >= p.peers.size()) return;  // this node has no limit, and has asked nobody
  if (has_same_memory(m.from)) return;           // press()
  page_out_state::peer& peer = p.peers[m.from.value()];
  peer.room = m.a;
  peer.takes_nothing = m.b == 0;
  if (peer.takes_nothing) {
    rest(peer);
  } else {
    peer.rest_ns = shortest_rest_ns;
    peer.ask_again_ns = core_.now() + peer.rest_ns;
  }
  // Some will not go there, or come back before anybody has looked.
  const std::uint64_t until = peer.takes_nothing ? 0 : core_.now() + arrival_time_ns;
  for (page_out_state::victim& v : p.moving) {
    if (v.taker == m.from) v.until_ns = std::min(v.until_ns, until);
  }
}

/// A peer takes nothing for the present: what leaves goes to the store.
void pager::rest(page_out_state::peer& peer) noexcept {
  peer.rest_ns = std::min(2 * peer.rest_ns + shortest_rest_ns, longest_rest_ns);
  peer.ask_again_ns = core_.now() + peer.rest_ns;
  page_out_.refused = true;
}

/// Looks which units have gone to the node that was asked to take them. Where none has, they may be such as never will,
/// as long as a production phase lasts, say, or a pin.
void pager::settle_moves() noexcept {
  const std::uint64_t now = core_.host.now();
  const node_id taker = page_out_.moving.empty() ? core_.config.self : page_out_.moving.front().taker;
  std::erase_if(page_out_.moving, [&](const page_out_state::victim& v) {
    if (use_of(*v.region, v.frame) == frame_use::none && !core_.frames.is_moving(*v.region, v.frame)) {
      ++core_.frames.count.given;
      core_.frames.drop(*v.region, v.frame, 1);
      page_out_.some_went = true;
      return true;
    }
    if (now < v.until_ns) return false;
    core_.frames.enqueue(*v.region, v.frame, core_.frames.own);
    return true;
  });
  if (!page_out_.moving.empty() || taker == core_.config.self) return;
  if (!std::exchange(page_out_.some_went, false)) {
    page_out_.peers[taker.value()].room = 0;
    rest(page_out_.peers[taker.value()]);
  }
}

// ---- Threads that ask for more while there is far too much

bool pager::starved() const noexcept {
  const bool leaving = core_.frames.leaving() != 0 || core_.frames.any_staged() || !page_out_.moving.empty() ||
                       core_.wire.sends_pending();
  return leaving && core_.frames.is_over_by(8);
}

bool pager::is_over() const noexcept { return core_.frames.over(); }

void pager::make_room() noexcept {
  const auto stays = [&] { return core_.frames.used() - core_.frames.leaving(); };
  for (std::uint64_t before = 0; core_.frames.over() && stays() != before;) {
    before = stays();
    page_out();
  }
}

bool pager::starves(const region_slot& r, std::uint64_t unit) const noexcept {
  return starved() && core_.frames.limits(r) && !core_.frames.is_here(r, r.layout.frame_of(unit));
}

bool pager::is_restless() const noexcept {
  return !page_out_.moving.empty() ||
         (page_out_.anybody_starves() && core_.frames.leaving() == 0 && !core_.frames.any_staged());
}

void pager::starve(op& o) noexcept {
  o.next = page_out_.first_starved;
  page_out_.first_starved = &o;
}

void pager::feed() noexcept {
  for (op* o = std::exchange(page_out_.first_starved, nullptr); o != nullptr;) {
    op* const rest = o->next;  // the op may end, and with it its memory
    core_.execute(*o);
    o = rest;
  }
  for (const page_out_state::fault& f : std::exchange(page_out_.starved_faults, {}))
    core_.faults.begin_kernel_fault(*f.region, f.address, f.write);
  core_.settle();
}

}  // namespace quire::core
