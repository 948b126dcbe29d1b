// A region's consistency changes while the program runs (KOAN: "the consistency semantics of a region may change
// dynamically"). One thread of each node calls; threads of all nodes may go on using the region, and wait while it changes.
//
//   all have called and mean the same   the first collective; from here on nobody waits for what a program does
//   freeze     what threads ask for is kept for later; twins are sent home; homes stay where they are
//   drain      each node waits for its own requests; then collectives add up what was sent and received, until all of it is
//   convert    each node for itself: one machine gives up what it knows, the other one takes it; what only a manager knows
//              goes to others by messages
//   drain      these messages
//   thaw       what was kept is executed
//
// change() runs on an application thread; the rest on the driver's.
#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/engine.hpp"

namespace quire::engine {

/// What nodes add up, in one collective.
struct engine::totals {
  std::int64_t call = 0, call_squared = 0;  ///< what was called: the same on all nodes?
  std::int64_t bad = 0;       ///< nodes with bad arguments
  std::int64_t failed = 0;    ///< nodes without memory for it
  std::int64_t pins = 0;      ///< units pinned, or about to be
  std::int64_t busy = 0;      ///< nodes that wait for something of their own
  std::int64_t sent = 0, received = 0;
};

/// Runs `f` as the driver, and waits until it has run.
template <class F>
void engine::as_driver(F f) noexcept {
  struct task : op {
    task(body execute, F& f) noexcept : op(execute, type::call), what(f) {}
    F& what;
  } o([](engine&, op& self) noexcept {
    static_cast<task&>(self).what();
    self.complete();
  }, f);
  (void)run(o);
}

base::status engine::gather(totals& t) noexcept {
  static_assert(sizeof t == sync::max_reduce_values * sizeof(std::int64_t));
  sync::call c;
  c.what = sync::operation::reduce_i64;
  c.count = sync::max_reduce_values;
  c.combine = QUIRE_SUM;
  c.values = sync::value(std::as_bytes(std::span(&t, 1)));
  const auto why = synchronise(c, -1);
  if (why.ok()) std::memcpy(&t, c.values.bytes().data(), sizeof t);
  return why;
}

base::status engine::change(std::uint64_t region, quire_consistency to) noexcept {
  region_slot* const r = region < region_map::max_regions ? regions_.slot(model::region_id{static_cast<std::uint16_t>(region)}) : nullptr;
  const bool known = to == QUIRE_SEQUENTIAL || to == QUIRE_RELEASE;
  // The heap has too many units to look at them all; where writes are found by scans they cannot be stopped.
  const bool good = r != nullptr && region != 0 && known && (to == QUIRE_RELEASE || !r->detector->scans());
  totals t;
  t.bad = good ? 0 : 1;
  t.call = good ? static_cast<std::int64_t>(region * 2 + (to == QUIRE_RELEASE ? 1 : 0)) : 0;
  t.call_squared = t.call * t.call;
  if (const auto why = gather(t); !why.ok()) return why;
  // All terms are equal if and only if n times the sum of squares is the square of the sum: every node finds the same.
  if (t.bad != 0 || t.call_squared * config_.nodes != t.call * t.call) return QUIRE_INVALID;
  if ((to == QUIRE_RELEASE) == (r->release != nullptr)) return {};
  t = {};
  as_driver([&] { freeze(*r, to, t); });
  base::status why = gather(t);
  if (why.ok() && t.failed != 0) why = QUIRE_NO_MEMORY;
  if (why.ok() && t.pins != 0) why = QUIRE_BUSY;
  if (why.ok()) why = drain(*r, t);
  if (why.ok()) {
    as_driver([&] { convert(*r, to); });
    do {  // conversion answers nothing: what has been sent is all there will be
      t = {};
      as_driver([&] { add_up(*r, t); });
      why = gather(t);
    } while (why.ok() && t.sent != t.received);
  }
  as_driver([&] { thaw(*r); });
  return why;
}

/// Until nothing of the region is on its way. Nodes that have all they have asked for send only in answer to messages; if then
/// everything that had been sent at one collective was received by the one before, all is quiet (Mattern, Algorithms for
/// Distributed Termination Detection, 1987: four counters).
base::status engine::drain(region_slot& r, totals last) noexcept {
  for (;;) {
    wait_quiet(r);
    totals t;
    as_driver([&] { add_up(r, t); });
    if (const auto why = gather(t); !why.ok()) return why;
    if (last.busy == 0 && last.received == t.sent) return {};
    last = t;
  }
}

void engine::add_up(region_slot& r, totals& t) noexcept {
  t.busy = is_quiet(r) ? 0 : 1;
  t.sent = static_cast<std::int64_t>(r.change.sent);
  t.received = static_cast<std::int64_t>(r.change.received);
}

void engine::freeze(region_slot& r, quire_consistency to, totals& t) noexcept {
  if (prepare(r, to) != 0) t.failed = 1;
  if (to == QUIRE_RELEASE) relaxed_ = true;  // the collectives that follow are rounds of its notices
  r.change.frozen = true;
  (void)end_holds();
  if (release::machine* const m = r.release.get(); m != nullptr) {
    m->keep_homes(true);
    consistency_.release();
  }
  pins_.for_each([&](const sequential::pin& p) { t.pins += p.region.value() == r.about.id ? 1 : 0; });
  add_up(r, t);
}

void engine::thaw(region_slot& r) noexcept {
  change_state& c = r.change;
  c.frozen = false;
  if (r.made.release != nullptr) r.made.release->keep_homes(false);
  op* o = c.first;
  c.first = c.last = nullptr;
  while (o != nullptr) {
    op* const rest = o->next;  // the op may end, and with it its memory
    o->execute(*this);
    settle();
    o = rest;
  }
  for (const auto& f : std::exchange(c.faults, {})) begin_kernel_fault(r, f.address, f.write);
  settle();
}

void engine::park(region_slot& r, op& o) noexcept {
  change_state& c = r.change;
  o.next = nullptr;
  (c.last != nullptr ? c.last->next : c.first) = &o;
  c.last = &o;
}

/// `o` waits no longer, if it did.
void engine::unpark(region_slot& r, const op& o) noexcept {
  change_state& c = r.change;
  op* before = nullptr;
  for (op** link = &c.first; *link != nullptr; before = *link, link = &(*link)->next) {
    if (*link != &o) continue;
    *link = o.next;
    if (c.last == &o) c.last = before;
    return;
  }
}

/// Whether this node has all that its threads have asked for, and nothing to tell by itself.
bool engine::is_quiet(const region_slot& r) const noexcept {
  const auto held = std::find_if(holds_.begin(), holds_.end(), [&](const held_unit& h) { return h.region == &r; });
  return r.machine->outstanding() == 0 && r.change.calls == 0 && held == holds_.end();
}

void engine::wait_quiet(region_slot& r) noexcept {
  struct quiet_op : op {
    using op::op;
    region_slot* region = nullptr;
  } o([](engine& e, op& self) noexcept {
    e.quieting_ = static_cast<quiet_op&>(self).region;
    e.quiet_waiter_ = &self;
    e.look_whether_quiet();
  }, op::type::call);
  o.region = &r;
  (void)run(o);
}

void engine::look_whether_quiet() noexcept {
  if (!is_quiet(*quieting_)) return;
  std::exchange(quiet_waiter_, nullptr)->complete();
}

void engine::convert(region_slot& r, quire_consistency to) noexcept {
  sequential::machine& strong = *r.made.sequential;
  release::machine& relaxed = *r.made.release;
  put_in_charge(r, to);
  const auto used = to == QUIRE_RELEASE ? strong.used() : relaxed.used();
  for (std::uint64_t unit = used.first(); unit < used.end(); ++unit) {
    actions_.clear();
    if (to == QUIRE_RELEASE) {
      if (!strong.knows(unit)) continue;
      relaxed.take(unit, strong.give(unit), actions_);
    } else {
      if (!relaxed.knows(unit)) continue;
      strong.take(unit, relaxed.give(unit, actions_), actions_);
    }
    if (actions_.size() != 0) performer_.take(r, actions_);
  }
  to == QUIRE_RELEASE ? strong.all_given() : relaxed.all_given();
  performer_.flush();
}

}  // namespace quire::engine
