// SPDX-License-Identifier: BSD-3-Clause
// Writing back, dropping, cutting. A call goes to all nodes that manage units of its range. Each looks at its units in
// order, has the machine flush those that are dirty, or give up what it has, and answers when that has ended and the
// store has made it last. Copies that are on their way to stores take a few megabytes at most: a call that has more
// goes on as others end. But each may always have one of its own on its way, whatever others wait for.
//
// What a store has taken and not made last may be lost when a sync fails (fdatasync(2) does not write it again). So
// such units are kept in memory, and are dirty again after a sync that failed; also those whose flush was under way
// then.
#include "core/stored_units.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "core/absent_units.hpp"
#include "core/call_table.hpp"
#include "core/configuration.hpp"
#include "core/content.hpp"
#include "core/core.hpp"
#include "core/frames.hpp"
#include "core/host.hpp"
#include "core/outbox.hpp"
#include "core/region_slot.hpp"
#include "core/store_status.hpp"
#include "core/unit_waiters.hpp"
#include "directory/pins.hpp"
#include "model/action.hpp"
#include "model/membership.hpp"

namespace quire::core {

using model::flush_outcome;
using model::leave_end;
using model::message;
using model::message_kind;
using model::node_id;

namespace {
constexpr std::uint64_t most_staged = 8u << 20;  ///< bytes of copies on their way, and of units that calls wait for
constexpr std::uint64_t longest_flush = 1u << 20;
constexpr std::uint64_t most_looks = 1u << 14;  ///< at units, in one turn
constexpr std::uint64_t between_lines_ns = 1'000'000'000;
constexpr std::uint64_t rest_ns = 1'000'000'000;  ///< of page-out, after a store has failed

}  // namespace

// ---- Application threads

void stored_units::offer(std::uint16_t number, std::unique_ptr<store::store> which) {
  if (which != nullptr)
    core_.host.hire(*which);  // here, as the region is made by the driver, which waits for no thread to begin
  const std::lock_guard guard(offers_mutex_);
  offers_[number] = std::move(which);
}

void stored_units::withdraw(std::uint16_t number) noexcept {
  auto which = take(number);
  if (which != nullptr) core_.as_driver([&] { core_.frames.retire(std::move(which)); });
}

std::unique_ptr<store::store> stored_units::take(std::uint16_t number) {
  const std::lock_guard guard(offers_mutex_);
  const auto found = offers_.find(number);
  if (number == 0 || found == offers_.end()) return nullptr;
  auto which = std::move(found->second);
  offers_.erase(found);
  return which;
}

base::status stored_units::write_back(std::uint64_t address, std::uint64_t bytes) noexcept {
  return ask(address, bytes, asked::write_back, 0, "writing back");
}

base::status stored_units::drop(std::uint64_t address, std::uint64_t bytes) noexcept {
  if (const base::status why = write_back(address, bytes); !why.ok()) return why;
  return ask(address, bytes, asked::drop, 0, "dropping content");
}

base::status stored_units::cut(std::uint64_t base, std::uint64_t bytes) noexcept {
  return resize(base, bytes, asked::cut, "cutting content");
}
base::status stored_units::grow(std::uint64_t base, std::uint64_t bytes) noexcept {
  return resize(base, bytes, asked::grow, "letting content grow");
}

base::status stored_units::resize(std::uint64_t base, std::uint64_t bytes, asked what, const char* doing) noexcept {
  const region_ref r = core_.regions.find(base);
  if (r == nullptr || r->about.base != base || bytes > r->about.bytes) return QUIRE_BAD_ADDRESS;
  if (bytes == r->about.bytes && what == asked::cut) what = asked::grow;  // no unit goes
  const std::uint64_t from = what == asked::cut ? bytes : 0;
  return ask(base + from, r->about.bytes - from, what, bytes, doing);
}

base::status stored_units::ask(std::uint64_t address, std::uint64_t bytes, asked what, std::uint64_t end,
                               const char* doing) noexcept {
  call_op o([](core& e, op& self) noexcept {
    auto& call = static_cast<call_op&>(self);
    if (call.region.gone()) return self.complete(QUIRE_NOT_FOUND);
    region_slot& r = *call.region;
    if (r.change.frozen) return r.change.park(self);
    const bool needs_units = call.m.b != static_cast<std::uint64_t>(asked::grow) && e.pinned.size() != 0;
    for (std::uint64_t unit = call.first; needs_units && unit < call.first + call.units; ++unit) {
      if (r.machine->pins().is_pinned(unit)) return self.complete(QUIRE_BUSY);  // nobody else gets it to write it back
    }
    const model::membership& members = e.members;
    const bool at_one = r.about.placement == QUIRE_PLACE_NODE && !members.is_dead(node_id{r.about.home});
    const unsigned first = at_one ? r.about.home : 0, end = at_one ? first + 1u : e.config.nodes;
    const auto lives = [&](unsigned n) { return !members.is_dead(node_id{static_cast<std::uint16_t>(n)}); };
    ++r.change.calls;
    call.replies = 0;
    for (unsigned n = first; n < end; ++n) call.replies += lives(n) ? 1 : 0;
    message m = call.m;
    m.region = model::region_id{r.about.id};
    m.from = m.requester = e.config.self;
    m.token = call.token = e.tokens.add(self);
    m.unit = call.first;
    m.a = call.units;
    for (unsigned n = first; n < end; ++n) {
      if (lives(n)) e.out.send(node_id{static_cast<std::uint16_t>(n)}, m, {});
    }
  });
  o.region = core_.regions.find(address);
  if (o.region == nullptr) return QUIRE_BAD_ADDRESS;
  if (o.region->about.backing == 0) return QUIRE_UNSUPPORTED;
  if (bytes == 0) return {};
  const unit_range range = o.region->under(address, std::min(bytes, o.region->bytes_from(address)));
  o.first = range.first;
  o.units = range.count();
  o.m.kind = message_kind::write_back;
  o.m.b = static_cast<std::uint64_t>(what);
  o.m.c = end;
  const auto noted = note_memory(doing, *o.region, o.first);
  (void)core_.run(o);
  return o.result();
}

// ---- At the nodes that manage units

void stored_units::on_call(const message& m) noexcept {
  region_slot* const r = core_.regions.slot(m.region);
  const std::uint64_t units = r != nullptr ? r->machine->units() : 0;
  if (r == nullptr || r->about.backing == 0 || m.unit > units || m.a > units - m.unit ||
      m.b > static_cast<std::uint64_t>(asked::grow) || m.c > r->about.bytes) {
    base::die(QUIRE_SYSTEM, "node %u asked this node to write back units that it does not have",
              static_cast<unsigned>(m.from.value()));
  }
  begin(*r, m, false);
}

void stored_units::begin(region_slot& r, const message& m, bool in_background) noexcept {
  const auto used = r.machine->used();  // others are as their store has them
  call& c = *calls_.emplace_back(base::make_fault<call>());
  c.m = m;
  c.region = &r;
  c.in_background = in_background;
  std::uint64_t first = used.first(), end = used.end();
  if (c.what() != asked::write_back && r.end_brought != 0) {  // what has been read ahead nobody has touched
    first = std::min(first, r.layout.units_of(r.first_brought).first);
    end = std::max(end, r.layout.units_of(r.end_brought - 1).end);
  }
  c.next = std::max(m.unit, first);
  c.end = std::max(c.next, std::min(m.unit + m.a, end));
  if (c.what() == asked::grow) c.next = c.end;
  if (c.what() == asked::cut) r.end = std::min(r.end, m.c);  // from now on what comes is zero there
  advance(c);
  end_done();
}

/// Not all at once: what others wait for takes memory. But one unit of its own each may have on its way.
bool stored_units::may_go_on(const call& c) const noexcept {
  return c.next < c.end && (c.waiting == 0 || waited_bytes_ + c.region->bytes_of(c.next) <= most_staged);
}

/// What nobody has asked for ends where its region is about to go.
void stored_units::advance(call& c) noexcept {
  if (c.in_background && c.region->change.frozen) c.next = c.end;
  for (std::uint64_t looks = 0; looks < most_looks && may_go_on(c); ++looks) look_at(c, c.next++);
  core_.perform_steps();
}

/// The machine has a unit flushed that is dirty, or gives up what it has; for others that are on their way the call
/// waits as well.
void stored_units::look_at(call& c, std::uint64_t unit) noexcept {
  region_slot& r = *c.region;
  if (r.backing == nullptr || r.machine->authority_of(unit) != core_.config.self)
    return;  // what a lost node alone could keep stays in memory
  if (c.in_background && r.machine->pins().is_pinned(unit)) return;  // a thread here uses it
  core_.actions.clear();
  bool next = false;
  if (c.what() == asked::write_back) {
    const flush_outcome outcome = r.machine->stored().on_flush(unit, core_.actions);
    if (outcome == flush_outcome::clean) return;
    next = outcome == flush_outcome::next;
  } else {
    const book& b = book_of(r);
    const bool drops = c.what() == asked::drop;
    if (drops && (b.taken.has(unit) || b.synced.has(unit))) return;  // a thread has written it since
    const auto how = drops                              ? model::leave::clean
                     : r.layout.offset_of(unit) < r.end ? model::leave::trim
                                                        : model::leave::discard;
    r.machine->stored().on_leave(unit, how, core_.actions);
  }
  waits_.push_back({&c, unit, next});
  waited_bytes_ += r.bytes_of(unit);
  ++c.waiting;
  core_.take_step(r);
}

/// Those waits are over of which `which` holds.
template <class Predicate>
void stored_units::end_waits(Predicate&& which, int error) noexcept {
  std::erase_if(waits_, [&](const wait& w) {
    if (!which(w)) return false;
    waited_bytes_ -= w.by->region->bytes_of(w.unit);
    --w.by->waiting;
    if (error != 0) w.by->error = error;
    return true;
  });
}

/// Content that the store may yet lose stays in memory.
bool stored_units::begin_flush(region_slot& r, std::uint64_t unit) noexcept {
  book& b = book_of(r);
  const bool rests = core_.now() < b.rests_until_ns;
  if (r.machine->stored().is_clean(unit)) {
    if (!b.taken.has(unit) && !b.synced.has(unit)) return true;
    if (!rests && b.taken.has(unit)) begin_sync(r, b);  // else one is under way
    return false;
  }
  if (rests || core_.frames.staged() >= most_staged) return false;
  core_.actions.clear();
  (void)r.machine->stored().on_flush(unit, core_.actions);
  core_.take_step(r);
  return false;
}

/// Who waited for the next flush waits for this one.
void stored_units::flush(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  for (wait& w : waits_) {
    if (w.by->region == &r && w.unit - first < count) w.next = false;
  }
  use_content(core_.frames, r, first, count, content::read);
  const std::uint64_t turn = book_of(r).turn, end = first + count;
  for (std::uint64_t unit = first; unit < end;) {
    const std::uint64_t together = std::max<std::uint64_t>(r.layout.fitting(unit, longest_flush), 1),
                        run = std::min(together, end - unit);
    core_.frames.begin_staged_flush(r, r.layout.frame_of(unit), run, turn);
    unit += run;
  }
  count_.most_staged_bytes = std::max(count_.most_staged_bytes, core_.frames.staged());
}

bool stored_units::may_leave(const region_slot& r, const book& b, std::uint64_t unit, leave_end end) const noexcept {
  if (end != leave_end::gone) return end == leave_end::lost;
  if (!b.taken.has(unit) && !b.synced.has(unit)) return true;
  return std::any_of(waits_.begin(), waits_.end(),
                     [&](const wait& w) { return w.by->region == &r && w.unit == unit && w.by->what() == asked::cut; });
}

void stored_units::give_up(region_slot& r, book& b, std::uint64_t first, std::uint64_t count) noexcept {
  for (std::uint64_t unit = first; unit < first + count; ++unit) {
    const std::uint64_t frame = r.layout.frame_of(unit);
    core_.frames.leave_wherever(r, frame);
    if (core_.absent.holds_frame(r, frame) && !core_.frames.is_filling(r, frame))
      core_.frames.begin_fill(r, frame, 1);  // it had just come
    b.taken.remove(unit);
    b.synced.remove(unit);
  }
}

/// What is discarded is not written: nobody waits for that either. What has been flushed since it was looked at, and
/// may yet be lost, stays where it is.
void stored_units::leave(region_slot& r, std::uint64_t first, std::uint64_t count, leave_end end) noexcept {
  book& b = book_of(r);
  for (std::uint64_t unit = first; unit < first + count;) {
    const std::uint64_t from = unit;
    while (unit < first + count && may_leave(r, b, unit, end)) ++unit;
    if (unit != from) give_up(r, b, from, unit - from);
    if (unit == first + count) break;
    if (end == leave_end::alone) core_.frames.trim(r, r.layout.frame_of(unit));
    ++unit;
  }
  end_waits(
      [&](const wait& w) {
        if (w.by->region != &r || w.unit - first >= count) return false;
        return w.by->what() != asked::write_back || (end == leave_end::gone && w.next);
      },
      end == leave_end::failed ? EIO : 0);
  core_.host.call();  // look() goes on
}

void stored_units::on_staged(const frame_io& done) noexcept {
  switch (done.what) {
    case store::io::kind::sync:
      on_synced(done);
      break;
    case store::io::kind::resize:
      on_resized(done);
      break;
    default:
      on_flushed(done);
      break;
  }
  go_on();
}

void stored_units::on_flushed(const frame_io& done) noexcept {
  region_slot& r = *done.region;
  book& b = book_of(r);
  const std::uint64_t first = r.layout.units_of(done.first).first;
  const bool well = done.error == 0 && done.turn == b.turn;
  (well ? count_.written : count_.failed) += done.count;
  if (done.error != 0) note_unwritten(r, done.error);
  end_waits(
      [&](const wait& w) {
        return !w.next && w.by->region == &r && w.by->what() == asked::write_back && w.unit - first < done.count;
      },
      well              ? 0
      : done.error != 0 ? done.error
                        : EIO);
  for (std::uint64_t unit = first; unit < first + done.count; ++unit) {
    if (well) b.taken.add(unit);
    core_.actions.clear();
    r.machine->stored().on_flushed(unit, well, core_.actions);
    core_.take_step(r);
  }
  core_.perform_steps();
}

void stored_units::note_unwritten(const region_slot& r, int error) noexcept {
  book& b = book_of(r);
  ++b.failures;
  b.last = error;
  b.rests_until_ns = core_.now() + rest_ns;
  note_failure(r, true, error);
}

/// One at a time: what is flushed while it is under way is the next one's. Calls that come meanwhile wait for that, all
/// together.
void stored_units::begin_sync(region_slot& r, book& b) noexcept {
  b.again = b.syncing;
  if (b.syncing) return;
  b.syncing = true;
  ++b.syncs;
  ++count_.syncs;
  b.synced.add(b.taken);
  b.taken.clear();
  core_.frames.begin_staged(store::io::kind::sync, r, 0, b.turn);
}

void stored_units::on_synced(const frame_io& done) noexcept {
  region_slot& r = *done.region;
  book& b = book_of(r);
  b.syncing = false;
  if (done.error != 0) {
    ++b.turn;
    note_unwritten(r, done.error);
    const auto again = [&](std::uint64_t unit) { r.machine->stored().on_unsynced(unit); };
    b.synced.for_each(again);
    b.taken.for_each(again);
    b.taken.clear();
  }
  b.synced.clear();
  for (const auto& c : calls_) {
    if (c->region != &r || c->what() != asked::write_back) continue;
    c->synced |= c->number == b.syncs;
    if (done.error != 0)
      c->error = done.error;  // whichever it waits for: it may have taken units for clean that are lost
  }
  if (b.again) begin_sync(r, b);
}

/// Units that were written beyond the end that was have not been kept, whatever became of their flush.
void stored_units::on_resized(const frame_io& done) noexcept {
  region_slot& r = *done.region;
  const auto of_it = [&](const auto& c) {
    return c->region == &r && c->what() >= asked::cut && c->number == done.turn;
  };
  const auto found = std::find_if(calls_.begin(), calls_.end(), of_it);
  book& b = book_of(r);
  if (done.error != 0) note_failure(r, true, done.error);
  if (done.error == 0 && done.at <= b.owed) b.owed = UINT64_MAX;
  if (found == calls_.end()) return;
  call& c = **found;
  if (done.error != 0 && c.what() == asked::cut) b.owed = std::min(b.owed, c.m.c);
  if (done.error == 0 && done.at < c.m.c) return void(c.number = 0);  // now it may grow
  c.synced = true;
  c.error = done.error != 0 ? done.error : c.error;
  if (c.what() != asked::grow || done.error != 0 || r.end >= c.m.c) return;
  const auto used = r.machine->used();
  const std::uint64_t first = std::max(r.layout.unit_of(r.end), used.first()),
                      end = std::min(r.layout.unit_of(c.m.c - 1) + 1, used.end());
  r.end = c.m.c;
  for (std::uint64_t unit = first; unit < end; ++unit) {
    if (r.machine->authority_of(unit) != core_.config.self || core_.absent.is_absent(r, unit))
      continue;  // what is not in memory was not written
    r.machine->stored().on_unsynced(unit);
  }
}

void stored_units::go_on() noexcept {
  for (const auto& c : calls_) {
    if (may_go_on(*c)) advance(*c);
  }
  end_done();
}

void stored_units::end_done() noexcept {
  std::erase_if(calls_, [this](const base::fault_ptr<call>& c) { return end_if_done(*c); });
}

/// A failure of which this caller's node has not been told counts, whoever's flush it was.
bool stored_units::end_if_done(call& c) noexcept {
  if (c.next < c.end || c.waiting != 0) return false;
  region_slot& r = *c.region;
  book& b = book_of(r);
  const bool has_store = r.backing != nullptr;
  if (c.what() == asked::write_back && has_store && (!c.in_background || writes_all_)) {
    if (c.number == 0) {
      c.number = b.syncs + 1;
      begin_sync(r, b);
    }
    if (!c.synced) return false;
  } else if (c.what() >= asked::cut && has_store) {
    // Growth that has failed on another node only may have moved the end further here: what is there stays.
    const std::uint64_t end = c.what() == asked::grow && r.end <= r.about.bytes ? std::max(c.m.c, r.end) : c.m.c;
    if (c.number == 0)
      core_.frames.begin_staged(store::io::kind::resize, r, std::min(b.owed, end), c.number = ++last_number_);
    if (!c.synced) return false;
  }
  if (c.in_background) return true;
  if (c.what() == asked::write_back) {
    b.told.resize(core_.config.nodes);
    std::uint64_t& told = b.told[c.m.requester.value()];
    if (c.error == 0 && told != b.failures) c.error = b.last;
    told = b.failures;
  }
  answer(c);
  return true;
}

void stored_units::answer(const call& c) noexcept {
  message r;
  r.kind = message_kind::written_back;
  r.region = c.m.region;
  r.from = core_.config.self;
  r.requester = c.m.requester;
  r.unit = c.m.unit;
  r.token = c.m.token;
  r.operation = static_cast<std::uint32_t>(c.error);
  core_.out.send(c.m.requester, r, {});
}

bool stored_units::look() noexcept {
  if (!core_.frames.tracks_any()) return false;
  write_back_in_background();
  if (calls_.empty()) return false;
  bool any = false;
  for (const auto& c : calls_) {
    if (!may_go_on(*c)) continue;
    advance(*c);
    any = true;
  }
  const std::size_t before = calls_.size();
  end_done();
  if (std::any_of(calls_.begin(), calls_.end(), [this](const auto& c) { return may_go_on(*c); })) core_.host.call();
  return any || calls_.size() != before;
}

// ---- In the background

void stored_units::write_back_in_background() noexcept {
  const std::uint64_t every = core_.config.write_back_ns, now = core_.now();
  if (every == 0 || writes_all_ || now < next_write_back_ns_) return;
  const bool first = std::exchange(next_write_back_ns_, now + every) == 0;
  if (first) return;
  core_.regions.for_each([&](region_slot& r) {
    const bool under_way =
        std::any_of(calls_.begin(), calls_.end(), [&](const auto& c) { return c->in_background && c->region == &r; });
    if (r.backing == nullptr || r.change.frozen || under_way) return;
    message m;
    m.region = model::region_id{r.about.id};
    m.a = r.machine->units();
    begin(r, m, true);
  });
}

bool stored_units::write_back_all() noexcept {
  if (!std::exchange(writes_all_, true)) {
    core_.regions.for_each([&](region_slot& r) {
      if (r.backing == nullptr) return;
      message m;
      m.region = model::region_id{r.about.id};
      m.a = r.machine->units();
      begin(r, m, true);
    });
  }
  return calls_.empty();
}

stored_units::book& stored_units::book_of(const region_slot& r) noexcept {
  const auto found = std::find_if(books_.begin(), books_.end(), [&](const auto& b) { return b->region == &r; });
  if (found != books_.end()) return **found;
  book& b = *books_.emplace_back(base::make_fault<book>());
  b.region = &r;
  int error = b.taken.make(r.machine->units());
  if (error == 0) error = b.synced.make(r.machine->units());
  if (error != 0)
    base::die(QUIRE_NO_MEMORY, "no memory for the list of pages that a store may lose: %s", std::strerror(error));
  return b;
}

void stored_units::note_failure(const region_slot& r, bool writes, int error) noexcept {
  if (core_.now() < quiet_until_ns_) return;
  quiet_until_ns_ = core_.now() + between_lines_ns;
  const char* const then = writes ? "what was to be written stays in memory, and is written when it is asked for again"
                                  : "threads that need it get SIGBUS, and calls an error";
  base::log(base::log_level::warning, "cannot %s region %u %s the %s in %s: %s; %s", writes ? "write" : "read",
            unsigned{r.about.id}, writes ? "to" : "from", r.backing->name(), r.backing->where(), std::strerror(error),
            then);
}

// ---- Where the call was made

void stored_units::on_answer(const message& m) noexcept {
  op* const o = core_.tokens.find(m.token);
  if (o == nullptr || o->what() != op::type::call) return;
  auto& call = static_cast<call_op&>(*o);
  if (m.operation != 0) call.why = store_status::unwritable;
  if (--call.replies != 0) return;
  --call.region->change.calls;
  (void)core_.tokens.take(m.token);
  call.complete(call.why);
}

/// What is on its way to a store, or from it, ends by itself, and finds no call.
void stored_units::cut() noexcept {
  end_waits([](const wait&) { return true; }, 0);
  calls_.clear();
}

bool stored_units::is_quiet(const region_slot& r) const noexcept {
  const bool asks = std::any_of(calls_.begin(), calls_.end(), [&](const auto& c) {
    return c->region == &r && (!c->in_background || c->waiting != 0);
  });
  return !asks && !core_.frames.is_flushing(r);  // when a flush is over the machine may ask other nodes for the next
}

void stored_units::forget(const region_slot& r) noexcept {
  end_waits([&](const wait& w) { return w.by->region == &r; }, 0);
  std::erase_if(calls_, [&](const auto& c) { return c->region == &r; });
  std::erase_if(books_, [&](const auto& b) { return b->region == &r; });
}

}  // namespace quire::core
