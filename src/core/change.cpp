// SPDX-License-Identifier: BSD-3-Clause
// A region's consistency changes while the program runs (KOAN: "the consistency semantics of a region may change
// dynamically"). One thread of each node calls; threads of all nodes may go on using the region, and wait while it
// changes. The callers' collectives are the job's, or those of a group of theirs, beside which others may be in
// collectives of the job.
//
//   all have called and mean the same   the first collective; from here on nobody waits for what a program does
//   freeze     what threads ask for is kept for later; twins are sent home; homes stay where they are
//   drain      each node waits for its own requests; then collectives add up what was sent and received, until all of
//              it is
//   convert    each node for itself: one machine gives up what it knows, the other one takes it; what only a manager
//              knows goes to others by messages
//   drain      these messages
//   thaw       what was kept is executed
//
// A parallel block is the same to and fro, with a mark in between; if it is to be checked, what its nodes wrote is put
// together before the conversion at its end (block.hpp).
//
// change() and its callers run on an application thread; the rest on the driver's.
#include "core/change.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "base/detail.hpp"
#include "base/fault_heap.hpp"
#include "base/log.hpp"
#include "core/absent_units.hpp"
#include "core/block_calls.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/counters.hpp"
#include "core/fault.hpp"
#include "core/held_units.hpp"
#include "core/minipages/whole_pages.hpp"
#include "core/protocol_set.hpp"
#include "core/region_builder.hpp"
#include "core/region_slot.hpp"
#include "core/sync_calls.hpp"
#include "core/thread_state.hpp"
#include "core/transactions.hpp"
#include "directory/pins.hpp"
#include "model/action.hpp"
#include "protocol/contract/row.hpp"
#include "races/recorder.hpp"

namespace quire::core {

base::status changer::gather(totals& t, channel by) noexcept {
  static_assert(sizeof t == sync::max_reduce_values * sizeof(std::int64_t));
  sync::call c;
  c.what = by.group == 0 ? sync::operation::reduce_i64 : sync::operation::group_reduce_i64;
  c.object = by.group;
  c.thread = by.thread;
  c.count = sync::max_reduce_values;
  c.combine = QUIRE_SUM;
  c.values = sync::value(std::as_bytes(std::span(&t, 1)));
  const auto why = core_.objects.synchronise(c, -1);
  if (why.ok()) std::memcpy(&t, c.values.bytes().data(), sizeof t);
  return why;
}

base::status changer::lowest(std::int64_t& value) noexcept {
  sync::call c;
  c.what = sync::operation::reduce_i64;
  c.count = 1;
  c.combine = QUIRE_MIN;
  c.values = sync::value(std::as_bytes(std::span(&value, 1)));
  const auto why = core_.objects.synchronise(c, -1);
  if (why.ok()) std::memcpy(&value, c.values.bytes().data(), sizeof value);
  return why;
}

base::status changer::set_consistency(std::uint64_t region, quire_consistency to, channel by) noexcept {
  change_call c;
  c.by = by;
  c.region = changeable(core_.regions, region);
  c.old = core_.regions.is_old(region);
  c.to = protocol::find(core_.config.protocols, to);
  // Where writes are found by scans they cannot be stopped.
  c.good = c.region != nullptr && c.region->about.code == 0 && c.region->about.backing == 0 &&
           c.region->block == nullptr && c.to != nullptr && (!c.region->scans() || c.to->can.scan) &&
           (c.to->id == c.region->machine->protocol() || can_change(*c.region, *c.to));
  return change(c);
}

bool changer::can_change(const region_slot& r, const protocol::row& to) const noexcept {
  const protocol::abilities& now = r.can();
  return now.change && to.can.change &&
         (now.transactions == to.can.transactions || (r.about.copies != 0 && now.directory && to.can.directory));
}

namespace {
/// None of this node's transactions runs, while the views of a region change.
class no_transactions {
 public:
  no_transactions(transactions& all, bool wanted) noexcept : all_(wanted ? &all : nullptr) {
    if (all_ != nullptr && !all_->close().ok()) all_ = nullptr;
  }
  ~no_transactions() {
    if (all_ != nullptr) all_->open();
  }
  no_transactions(const no_transactions&) = delete;
  no_transactions& operator=(const no_transactions&) = delete;

 private:
  transactions* all_;
};
}  // namespace

base::status changer::change(const change_call& call) noexcept {
  if (core_.config.survives) {
    base::log(base::log_level::error,
              "regions keep their consistency, without parallel blocks, in a job that goes on when a node is "
              "lost: set QUIRE_ON_FAILURE to end");
    return QUIRE_UNSUPPORTED;
  }
  totals t;
  t.bad = call.good ? 0 : 1;
  t.call = call.signature();
  t.call_squared = t.call * t.call;
  if (const auto why = gather(t, call.by); !why.ok()) return why;
  // All terms are equal if and only if n times the sum of squares is the square of the sum: every node finds the same.
  if (t.bad != 0 || t.call_squared * core_.config.nodes != t.call * t.call) {
    return base::explain(call.old ? QUIRE_NOT_FOUND : QUIRE_INVALID, "%s",
                         !call.good   ? call.why_not()
                         : t.bad != 0 ? "the same call of another node has arguments that are not valid"
                                      : "the calls of the nodes differ: another region, consistency or flag");
  }
  region_slot& r = *call.region;
  if (call.what == change_call::kind::set && call.to->id == r.machine->protocol()) return {};
  const no_transactions none(core_.transactions,
                             call.to != nullptr && call.to->can.transactions != r.can().transactions);
  t = {};
  core_.as_driver([&] { stop(call, t); });
  base::status why = gather(t, call.by);
  if (why.ok() && t.call != 0) why = base::explain(QUIRE_BUSY, "the region is about to be destroyed");
  if (why.ok() && t.failed != 0) why = QUIRE_NO_MEMORY;
  if (why.ok() && t.pins != 0) why = QUIRE_BUSY;
  if (why.ok()) why = drain(&r, t, call.by);
  if (why.ok() && core_.builder.has_one_memory(r)) {  // what has come meanwhile is mapped
    core_.as_driver([&] { stop_common_writes(r); });
    t = {};
    why = gather(t, call.by);
  }
  bool apart = false;
  if (why.ok()) {
    core_.as_driver([&] {
      apart = !call.region.gone() && goes_apart(call);
      convert(call);
    });
    do {  // conversion answers nothing: what has been sent is all there will be
      t = {};
      core_.as_driver([&] { add_up(&r, t); });
      why = gather(t, call.by);
    } while (why.ok() && t.sent != t.received);
  } else if (call.what == change_call::kind::begin_block) {
    core_.as_driver([&] {
      if (!call.region.gone()) r.block.reset();
    });
  }
  core_.as_driver([&] {
    if (why.ok() && apart && !call.region.gone()) r.memory->end_host();  // all nodes have theirs
    if (!call.region.gone()) thaw(r, freeze::change, call.what == change_call::kind::begin_block && r.block != nullptr);
  });
  return why;
}

/// Until nothing of the region, or of any, is on its way. Nodes that have all they have asked for send only in answer
/// to messages; if then everything that had been sent at one collective was received by the one before, all is quiet
/// (Mattern, Algorithms for Distributed Termination Detection, 1987: four counters).
base::status changer::drain(region_slot* r, totals last, channel by) noexcept {
  for (;;) {
    wait_quiet(r);
    totals t;
    core_.as_driver([&] { add_up(r, t); });
    if (const auto why = gather(t, by); !why.ok()) return why;
    if (last.busy == 0 && last.received == t.sent) return {};
    last = t;
  }
}

void changer::add_up(region_slot* r, totals& t) noexcept {
  const auto add = [&](region_slot& one) {
    t.busy += is_quiet(one) ? 0 : 1;
    t.sent += static_cast<std::int64_t>(one.change.sent);
    t.received += static_cast<std::int64_t>(one.change.received);
  };
  if (r != nullptr) {
    add(*r);
  } else {
    core_.regions.for_each(add);
    t.busy += core_.protocols.commits() ? 1 : 0;
  }
}

/// Where all nodes write one memory: nobody does from now on until the change is over, so that what one node takes of
/// it is what all have. Who faults waits.
void changer::stop_common_writes(region_slot& r) noexcept {
  if (!core_.builder.has_one_memory(r)) return;
  const auto used = r.machine->used();
  for (std::uint64_t unit = used.first(); unit < used.end(); ++unit) {
    const model::access now = r.machine->mapped(unit);
    if (now == model::access::none || (r.can().relaxed && now != model::access::write)) continue;
    core_.actions.clear();
    r.machine->frames().on_unmap(unit, core_.actions);
    core_.take_step(r);
  }
  core_.perform_steps();
}

void changer::stop(const change_call& call, totals& t) noexcept {
  region_slot& r = *call.region;
  if (call.region.gone() || r.change.frozen.has(freeze::end)) {
    ++t.call;
    return;
  }
  if (core_.builder.prepare(r, *call.to) != 0) t.failed = 1;
  if (call.to->can.relaxed) core_.relaxes = true;  // the collectives that follow are rounds of its notices
  const bool begins = call.what == change_call::kind::begin_block, ends = call.what == change_call::kind::end_block;
  if (begins) r.block = base::make_fault<parallel_block>(call.checked, r.machine->protocol(), r.layout);
  r.change.frozen.add(freeze::change);
  (void)core_.held.end();
  core_.whole.end();
  r.machine->successor().stay(true);
  stop_common_writes(r);
  if (begins && call.checked) core_.blocks.stop_scanned_writes(r);
  if (ends && call.checked) core_.blocks.close(r);
  core_.protocols.release(core_.protocols.domain_of(r), true);
  core_.pinned.for_each([&](const directory::pin& p) { t.pins += p.region.value() == r.about.id ? 1 : 0; });
  add_up(&r, t);
}

void changer::thaw(region_slot& r, freeze why, bool homes_stay) noexcept {
  change_state& c = r.change;
  c.frozen.remove(why);
  if (c.frozen) return;
  for (const auto& machine : r.made) {
    if (machine != nullptr) machine->successor().stay(homes_stay);
  }
  op* o = c.first;
  c.first = c.last = nullptr;
  while (o != nullptr) {
    op* const rest = o->next;  // the op may end, and with it its memory
    core_.execute(*o);
    o = rest;
  }
  for (const auto& f : std::exchange(c.faults, {})) core_.faults.begin_kernel_fault(r, f.address, f.write);
  core_.settle();
}

void change_state::park(op& o) noexcept {
  o.next = nullptr;
  (last != nullptr ? last->next : first) = &o;
  last = &o;
}

void change_state::unpark(const op& o) noexcept {
  op* before = nullptr;
  for (op** link = &first; *link != nullptr; before = *link, link = &(*link)->next) {
    if (*link != &o) continue;
    *link = o.next;
    if (last == &o) last = before;
    return;
  }
}

/// Whether this node has all that its threads have asked for, and nothing to tell by itself.
bool changer::is_quiet(const region_slot& r) const noexcept {
  return r.machine->outstanding() == 0 && r.change.calls == 0 && !core_.held.has_any_of(r) && core_.absent.is_quiet(r);
}

/// Of one region, or of all (null).
void changer::wait_quiet(const region_slot* r) noexcept {
  struct quiet_op : op {
    using op::op;
    const region_slot* region = nullptr;
  } o(
      [](core& e, op& self) noexcept {
        e.changes.quieting_ = static_cast<quiet_op&>(self).region;
        e.changes.quiet_waiter_ = &self;
        e.changes.look_whether_quiet();
      },
      op::type::call);
  o.region = r;
  (void)core_.run(o);
}

void changer::look_whether_quiet() noexcept {
  bool quiet = quieting_ != nullptr || !core_.protocols.commits();
  if (quieting_ != nullptr) {
    quiet = is_quiet(*quieting_);
  } else {
    core_.regions.for_each([&](const region_slot& r) { quiet = quiet && is_quiet(r); });
  }
  if (quiet) std::exchange(quiet_waiter_, nullptr)->complete();
}

bool changer::goes_apart(const change_call& call) const noexcept {
  const region_slot& r = *call.region;
  return r.memory->of_host() &&
         (call.what != change_call::kind::set || !core_.builder.may_be_of_host(r.about, *call.to));
}

/// Where consistency is relaxed nodes may have different content of a unit, and in a parallel block they do.
void changer::take_from_host(const change_call& call) noexcept {
  region_slot& r = *call.region;
  if (!goes_apart(call)) return;
  core_.absent.finish(r);  // what stores bring comes into the frames that there are now
  const int error = core_.builder.take_from_host(r);
  if (error == 0) return;
  base::die(QUIRE_SYSTEM, "cannot give region %u frames of this node's own for another consistency: %s",
            unsigned{r.about.id}, std::strerror(error));
}

void changer::convert(const change_call& call) noexcept {
  region_slot& r = *call.region;
  const bool begins = call.what == change_call::kind::begin_block;
  take_from_host(call);
  if (call.what != change_call::kind::set) core_.blocks.turn(r, begins, call.checked);
  model::machine& from = *r.machine;
  if (call.to->id == from.protocol()) return core_.blocks.mark(r, begins);
  const protocol::abilities& before = r.can();
  const bool by_directory = before.directory && call.to->can.directory,
             views_change = before.transactions != call.to->can.transactions;
  if (views_change) {
    from.on_views_gone();
    if (const int error = core_.builder.show(r, call.to->can.transactions); error != 0) {  // others see it already
      base::die(QUIRE_SYSTEM, "cannot map region %u anew for another consistency: %s (pool '%s')", unsigned{r.about.id},
                std::strerror(error), r.memory->name());
    }
    core_.transactions.on_copy_dropped();
  }
  core_.builder.put_in_charge(r, *call.to);
  model::machine& to = *r.machine;
  const auto used = from.used();
  for (std::uint64_t unit = used.first(); unit < used.end(); ++unit) {
    if (!from.knows(unit)) continue;
    core_.actions.clear();
    model::handover h = from.successor().give(unit, core_.actions);
    h.by_directory = by_directory;
    if (views_change) h.mapped = model::access::none;
    to.successor().take(unit, h, core_.actions);
    if (core_.actions.size() != 0) core_.take_step(r);
  }
  from.successor().all_given();
  if (core_.races != nullptr) core_.races->on_other(r.about.base, r.about.bytes);
  core_.perform_steps();
}

}  // namespace quire::core
