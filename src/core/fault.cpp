// SPDX-License-Identifier: BSD-3-Clause
// Faults on their way in: from a signal, from a descriptor (thread mode), or from a call that touches a range in
// advance. The faulting thread's context; begin_fault() and what it calls run on the driver's thread.
#include "core/fault.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "core/absent_units.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/counters.hpp"
#include "core/frames.hpp"
#include "core/guards.hpp"
#include "core/hot_units.hpp"
#include "core/mapping.hpp"
#include "core/minipages/whole_pages.hpp"
#include "core/page_out.hpp"
#include "core/performer.hpp"
#include "core/plans/planner.hpp"
#include "core/protocol_set.hpp"
#include "core/region_builder.hpp"
#include "core/region_slot.hpp"
#include "core/thread_state.hpp"
#include "core/transactions.hpp"
#include "core/unit_waiters.hpp"
#include "detect/fault_place.hpp"
#include "model/action.hpp"
#include "races/recorder.hpp"
#include "record/recorder.hpp"
#include "sharing/table.hpp"

namespace quire::core {

using model::access;

fault_path::fault_path(core& node) : core_(node), guards_(node.guarded), hot_(node.hot), sharing_(node.sharing) {}

void fault_path::forget(const region_slot& r) noexcept {
  hot_.forget(r.about.id);
  if (sharing_ != nullptr) sharing_->forget(r.about.id);
}

namespace {
accessed accessed_at(const region_slot& r, std::uint64_t address, bool write) noexcept {
  const accessed what = r.access_at(address);
  return what.page == accessed::by::wrong_page && !write ? r.beside(address) : what;
}

/// Not of a read beside a minipage (region_slot::beside()).
bool is_within(const region_slot& r, std::uint64_t unit, std::uint64_t address) noexcept {
  return r.natural(address) - r.address_of(unit) < r.bytes_of(unit);  // below it: a huge number
}

void tell_wrong_page(const region_slot& r, std::uint64_t address) noexcept {
  base::log(base::log_level::error,
            "a thread has accessed 0x%lx, which is in a fine view of region %u and shows no minipage there: byte %lu "
            "of its page of "
            "the natural view lies in the minipage whose address is 0x%lx",
            static_cast<unsigned long>(address), unsigned{r.about.id},
            static_cast<unsigned long>(r.offset_of(address) % view_map::page_bytes),
            static_cast<unsigned long>(r.fine(r.natural(address))));
  const std::uint64_t page = address & ~(view_map::page_bytes - 1);
  if (r.offset_of(page) == 0 || r.access_at(page - 1).page == accessed::by::wrong_page) return;
  base::log(base::log_level::error, "0x%lx is behind the minipage that ends at 0x%lx",
            static_cast<unsigned long>(address), static_cast<unsigned long>(page));
}
}  // namespace

base::status fault_path::fault(std::uint64_t address, bool write, std::uint64_t entered_ns) noexcept {
  const region_ref r = core_.regions.find(address);
  if (r == nullptr) {
    check_gone(address);
    check_frames(address);
    return QUIRE_BAD_ADDRESS;
  }
  if (is_guarded(address) || r->closed.has(r->offset_of(address))) return closed_page;
  if (write && r->about.code != 0) {
    base::log(base::log_level::error,
              "a thread has written to 0x%lx, which is in code in shared memory (region %u): code is replaced function "
              "by function "
              "(quire_code_replace)",
              static_cast<unsigned long>(address), unsigned{r->about.id});
    return QUIRE_BAD_ADDRESS;
  }
  const accessed what = accessed_at(*r, address, write);
  if (what.page == accessed::by::wrong_page) {
    tell_wrong_page(*r, address);
    return QUIRE_BAD_ADDRESS;
  }
  const base::status why = fault_and_wait(r, what, write ? access::write : access::read, true, entered_ns, address);
  if (why.code() == QUIRE_NOT_FOUND) check_gone(address);
  if (why.code() == QUIRE_NOT_OWNER) {
    base::log(
        base::log_level::error,
        "a thread has written to 0x%lx, byte %lu of region %u, which is transactional, and it is in no transaction: "
        "quire_atomically() has the write done in one",
        static_cast<unsigned long>(address), static_cast<unsigned long>(r->offset_of(address)), unsigned{r->about.id});
    return QUIRE_BAD_ADDRESS;
  }
  return why.code() == QUIRE_NOT_FOUND ? base::status{} : why;  // another region has the address now
}

/// A program that has installed a handler of SIGSEGV since the start gets that, on the alternate stack that each thread
/// has. What has run over, and what helps, is said once all the same: the handler may be a run-time's (Fortran's).
bool fault_path::is_guarded(std::uint64_t address) const noexcept {
  const char* const why = guards_.find(address);
  if (why == nullptr) return false;
  if (!detect::handles_bad_accesses()) check_guards(address);
  if (!has_told_of_guard_.exchange(true))
    base::log(base::log_level::warning, "a thread of this node has accessed 0x%lx: %s",
              static_cast<unsigned long>(address), why);
  return true;
}

void fault_path::check_guards(std::uint64_t address) const noexcept {
  if (const char* const why = guards_.find(address); why != nullptr) {
    base::die(QUIRE_BAD_ADDRESS, "a thread of this node has accessed 0x%lx: %s", static_cast<unsigned long>(address),
              why);
  }
}

void fault_path::check_gone(std::uint64_t address) const noexcept {
  region_description was;
  if (!core_.regions.find_gone(address, was)) return;
  base::die(QUIRE_BAD_ADDRESS,
            "a thread of this node has accessed 0x%lx, an address of a region that was destroyed "
            "(quire_region_destroy): byte %lu of region %u, "
            "which had %lu KiB from 0x%lx on",
            static_cast<unsigned long>(address), static_cast<unsigned long>(address - was.base), unsigned{was.id},
            static_cast<unsigned long>(was.bytes >> 10), static_cast<unsigned long>(was.base));
}

/// In the system view any access is allowed: if it fails there is no frame. Any access of the program outside of
/// regions comes by here, too.
void fault_path::check_frames(std::uint64_t address) const noexcept {
  core_.regions.for_each([address](const region_slot& r) {
    const std::uint64_t base = r.system_base.load(std::memory_order_relaxed);
    const std::uint64_t offset = address - base;
    if (base != 0 && offset < r.about.bytes) no_frame(r, r.about.base + offset);
  });
}

base::status fault_path::fault_and_wait(region_ref at, const accessed& what, access want, bool in_signal,
                                        std::uint64_t entered_ns, std::uint64_t address) noexcept {
  fault_op o([](core& e, op& self) noexcept { e.faults.begin_fault(static_cast<fault_op&>(self)); });
  region_slot& r = *at;
  const std::uint64_t unit = what.unit;
  o.region = at;
  o.unit = unit;
  o.composed = what.page == accessed::by::composed_page;
  o.want = want;
  o.address = address;
  thread_state& here = this_thread();
  o.stream = &here.stream;
  o.inside = here.inside_transaction;
  o.nested = here.asking != 0;
  core_.trace.add(fault_trace::point::entered, r.about.id, unit, entered_ns);
  o.lost = here.count_losses(&r, unit, want, entered_ns);
  const auto noted = note_memory(want == access::write ? "a write" : "a read", r, unit);
  if (core_.races != nullptr && want == access::write)
    core_.races->note_fault(r.address_of(unit),
                            {here.wants.thread, in_signal ? detect::place_of_fault() : detect::fault_place{}});
  (void)core_.run(o, -1, in_signal);
  here.granted_ns = core_.now();
  const std::uint64_t waited_ns = here.granted_ns - entered_ns;
  if (core_.recorder != nullptr) record(r, o, in_signal, entered_ns);
  core_.count.fault_ns.fetch_add(waited_ns, std::memory_order_relaxed);
  note_wait(r, unit, want == access::write, waited_ns);
  if (sharing_ != nullptr) sharing_->add_wait(r.about.id, unit, waited_ns);
  return o.anew ? fault_and_wait(at, what, want, in_signal, entered_ns, address) : o.result();
}

/// What the report says of a fault that has ended. The thread's context.
void fault_path::record(const region_slot& r, const fault_op& o, bool in_signal, std::uint64_t entered_ns) noexcept {
  thread_state& here = this_thread();
  const bool gone = o.region.gone();  // destroyed while the thread waited: what it waited counts all the same
  // Of a page that is used as a whole the unit with the byte; of a read beside a minipage that minipage.
  const accessed now =
      gone ? accessed{o.unit, accessed::by::own_page} : accessed_at(r, o.address, o.want == access::write);
  const std::uint64_t unit = now.page == accessed::by::composed_page ? r.unit_of(o.address) : now.unit;
  const std::uint64_t offset = !gone && is_within(r, unit, o.address) ? r.natural(o.address) - r.address_of(unit) : 0;
  const std::uint64_t line =
      gone ? 0 : std::min<std::uint64_t>(offset / sharing::line_bytes(r.bytes_of(unit)), sharing::lines - 1);
  core_.recorder->on_fault(here.recorded, here.wants.thread,
                           {r.about.id, unit, static_cast<unsigned>(line), o.want == access::write,
                            in_signal ? detect::place_of_fault() : detect::fault_place{}, entered_ns, here.granted_ns});
}

/// For the report's map of addresses and time. Driver's thread.
void fault_path::record_access(const region_slot& r, std::uint64_t address) noexcept {
  core_.recorder->on_access(r.about.id, r.natural(address), core_.now(), [&r] {
    return record::region_place{r.about.id, r.consistency() == QUIRE_RELEASE, r.about.base, r.about.bytes,
                                r.layout.most_bytes()};
  });
}

void fault_path::note_wait(region_slot& r, std::uint64_t unit, bool write, std::uint64_t ns) noexcept {
  r.waited.faults.fetch_add(1, std::memory_order_relaxed);
  if (write) r.waited.writes.fetch_add(1, std::memory_order_relaxed);
  r.waited.ns.fetch_add(ns, std::memory_order_relaxed);
  hot_.add(r.about.id, unit, write, ns);
}

/// Under release consistency others hear of a write although it waits for nobody. Driver's thread.
void fault_path::note_use(const region_slot& r, std::uint64_t unit, std::uint64_t address, access want,
                          model::fault_outcome how) noexcept {
  using enum model::fault_outcome;
  if (how == lost || how == refused || !is_within(r, unit, address)) return;
  const bool told = want == access::write && core_.protocols.of(r).relaxed;
  const auto what = how == started          ? sharing::event::moved
                    : how == joined || told ? sharing::event::used
                                            : sharing::event::seen;
  sharing_->add(r.about.id, unit, sharing::word_of(r.natural(address) - r.address_of(unit), r.bytes_of(unit)),
                want == access::write, what);
}

void fault_path::note_changes(const region_slot& r, std::uint64_t unit, std::uint64_t offset, std::uint64_t bytes,
                              const std::byte* now, const std::byte* before, bool begins) noexcept {
  if (sharing_ == nullptr) return;
  const std::uint64_t unit_bytes = r.bytes_of(unit);
  const sharing::word_mask written = before != nullptr
                                         ? sharing::words_that_differ(now, before, offset, bytes, unit_bytes)
                                         : sharing::words_under(offset, bytes, unit_bytes);
  if (written.any())
    sharing_->add_changes(r.about.id, unit, written, begins ? sharing::event::moved : sharing::event::used);
}

note_scope note_memory(const char* name, const region_slot& r, std::uint64_t unit) noexcept {
  wait_note& n = this_thread().wants;
  n.object = r.address_of(unit);
  n.other = std::uint64_t{r.about.id} << 48 | unit;
  return {n, waits::what::memory, name};
}

std::uint64_t fault_path::most_ahead_bytes() const noexcept {
  return core_.frames.limited() ? core_.frames.limit() / 16 : std::uint64_t{1} << 60;  // sums of it do not overflow
}

/// The way of every fault, whoever waits: the machine decides, what it wants is performed, neighbours are mapped or
/// asked for. `waits` is called with the outcome before the request leaves, unless the thread may go on, or the unit is
/// lost.
template <class F>
model::fault_outcome fault_path::let_in(region_slot& r, std::uint64_t unit, access want, unsigned lost, bool again,
                                        sweeps& stream, F&& waits) noexcept {
  if (r.states.used()) {
    r.states.use_whole(unit / r.layout.units_a_page(), false);
    again = true;
  }
  core_.actions.clear();
  const bool had = r.together.used() && r.machine->has_content(unit);
  const auto outcome = r.machine->on_fault(unit, want, core_.actions, lost);
  core_.planner.on_fault(r, unit, want, outcome, stream);
  const bool guesses = r.can_be_guessed(unit);
  const auto plan =
      guesses ? plan_for(r, unit, want, outcome == model::fault_outcome::local, stream) : read_ahead_plan{};
  if (r.together.used()) r.together.on_fault(unit, want, outcome, had);
  const bool brings =
      guesses && r.together.used() && outcome == model::fault_outcome::started && lost == 0 && core_.config.read_ahead;
  if (brings) {
    const unit_range mates = r.together.around(unit);
    bring_mates(r, {mates.first, unit}, want);  // in ascending order: they are one message
    core_.performer.take(r, core_.actions);
    bring_mates(r, {unit + 1, mates.end}, want);
  } else {
    core_.performer.take(r, core_.actions);
  }
  if (outcome == model::fault_outcome::local) {
    if (again) map_again(r, unit, want, core_.actions);
    if (guesses) map_around(r, unit, stream);
    if (guesses && want == access::write && !core_.planner.covers(r, stream)) write_on(r, unit);
  } else if (outcome != model::fault_outcome::lost) {
    core_.stamp(fault_trace::point::asked, r.about.id, unit);
    waits(outcome);
  }
  core_.performer.flush();  // the request leaves before anything else is prepared
  if (outcome == model::fault_outcome::lost) return outcome;
  if (core_.config.read_ahead && !core_.planner.covers(r, stream))
    read_on(r, plan, {plan.first, plan.first + plan.count}, want, stream);
  core_.protocols.relieve(r);
  return outcome;
}

/// Of units of one page, next to one that has been asked for: asks for those that are used together with it.
void fault_path::bring_mates(region_slot& r, unit_range some, access want) noexcept {
  const access wanted = core_.protocols.of(r).relaxed ? access::read : want;  // there a copy is asked for, whatever for
  model::actions list;
  for (std::uint64_t mate = some.first; mate < some.end; ++mate) {
    if (r.layout.bytes_of(mate) == 0) continue;
    const groups::guess how =
        r.together.judge(mate, wanted, !r.machine->has_content(mate) && !r.machine->awaits_content(mate));
    if (how.want == access::none) continue;
    list.clear();
    if (!r.machine->on_read_ahead(mate, how.want, how.withhold, list, false)) continue;
    r.together.on_asked(mate, how);
    core_.performer.take(r, list);
  }
}

/// The same for all units of a page that is used as a whole: they are asked for together. The thread waits for the
/// first that is missing, and comes again then. Sweeps are of pages: to a stream they have the numbers behind those of
/// the units.
template <class F>
model::fault_outcome fault_path::let_in_whole(region_slot& r, std::uint64_t first, access want, unsigned lost,
                                              sweeps& stream, F&& waits) noexcept {
  using model::fault_outcome;
  constexpr std::uint64_t none = ~std::uint64_t{0};
  const std::uint64_t page = first / r.layout.units_a_page();
  const unit_range all = r.layout.under(page * view_map::page_bytes, view_map::page_bytes);
  if (core_.whole.gathers(r, page)) {
    waits(all.end - 1);
    return fault_outcome::joined;
  }
  std::uint64_t missing = none;
  r.states.use_whole(page, true);
  for (std::uint64_t unit = all.first; unit < all.end; ++unit) {
    if (r.machine->mapped(unit) >= want) continue;
    core_.actions.clear();
    const auto outcome = r.machine->on_fault(unit, want, core_.actions, lost);
    core_.performer.take(r, core_.actions);
    if (outcome == fault_outcome::local && r.together.used()) r.together.on_fault(unit, want, outcome, true);
    if (outcome == fault_outcome::lost) {
      core_.performer.flush();
      return outcome;
    }
    if (outcome != fault_outcome::local && missing == none) missing = unit;
  }
  if (missing != none) {
    core_.stamp(fault_trace::point::asked, r.about.id, missing);
    core_.whole.note_try(r, page, want);
    const auto plan = plan_for_whole(r, page, want, false, stream);
    waits(missing);
    core_.performer.flush();
    if (core_.config.read_ahead && lost == 0) read_on_whole(r, plan, want, stream);
    core_.protocols.relieve(r);
    return fault_outcome::joined;
  }
  core_.performer.flush();
  compose(r, page, want);
  const auto plan = plan_for_whole(r, page, want, true, stream);
  compose_around(r, page, stream);
  if (core_.config.read_ahead) read_on_whole(r, plan, want, stream);
  if (r.detector->descriptor() >= 0) mapping::wake(r, all.first, 1);  // it comes again, unless it has what it wants
  core_.protocols.relieve(r);
  return fault_outcome::local;
}

bool fault_path::compose(region_slot& r, std::uint64_t page, access want) noexcept {
  const unit_range all = r.layout.under(page * view_map::page_bytes, view_map::page_bytes);
  access least = access::write;
  for (std::uint64_t unit = all.first; unit < all.end; ++unit) least = std::min(least, r.machine->mapped(unit));
  if (least < want) return false;
  core_.performer.compose(r, page, least);
  core_.whole.note_granted(r, page, least);
  return true;
}

read_ahead_plan fault_path::plan_for_whole(const region_slot& r, std::uint64_t page, access want, bool here,
                                           sweeps& stream) const noexcept {
  const std::uint64_t units = r.machine->units(), pages = units / r.layout.units_a_page();
  return stream.on_fault(model::region_id{r.about.id}, units + page, units + pages,
                         std::max<std::uint64_t>(window_bytes() / view_map::page_bytes, 1), want == access::write,
                         here);
}

void fault_path::read_on_whole(region_slot& r, const read_ahead_plan& plan, access want, sweeps& stream) noexcept {
  if (plan.count == 0) return;
  const unsigned a_page = r.layout.units_a_page();
  const std::uint64_t first = plan.first - r.machine->units();
  for (std::uint64_t page = first; page < first + plan.count; ++page) {
    if (r.can_be_guessed(page * a_page)) r.states.use_whole(page, true);
  }
  read_on(r, plan, {first * a_page, (first + plan.count) * a_page}, want, stream);
}

/// After a fault in a composed page that cost no message: pages next to it whose units are all here need not fault one
/// by one.
void fault_path::compose_around(region_slot& r, std::uint64_t page, sweeps& stream) noexcept {
  const model::region_id id{r.about.id};
  const unsigned a_page = r.layout.units_a_page();
  const std::uint64_t units = r.machine->units(), pages = units / a_page;
  const std::uint64_t end = std::min(page + 1 + stream.around(id, units + page), pages);
  std::uint64_t next = page + 1;
  for (; next < end && r.can_be_guessed(next * a_page); ++next) {
    const unit_range all = r.layout.under(next * view_map::page_bytes, view_map::page_bytes);
    const auto is_here = [&](std::uint64_t unit) {
      return r.machine->has_content(unit) && !core_.absent.is_absent(r, unit);
    };
    bool here = true;
    for (std::uint64_t unit = all.first; here && unit < all.end; ++unit) here = is_here(unit);
    if (!here) break;
    if (r.states.composed(next) != access::none) continue;
    r.states.use_whole(next, true);
    for (std::uint64_t unit = all.first; unit < all.end; ++unit) {
      core_.actions.clear();
      if (r.machine->on_fault_around(unit, core_.actions)) core_.performer.take(r, core_.actions);
    }
    core_.performer.flush();
    if (!compose(r, next, access::read)) break;
  }
  if (next > page + 1) stream.on_mapped_up_to(id, units + page, units + next);
}

void fault_path::begin_fault(fault_op& o) noexcept {
  if (o.region.gone()) return o.complete(QUIRE_NOT_FOUND);
  if (o.region->change.frozen) return o.region->change.park(o);
  if (core_.frames.limited() && core_.paging.starves(*o.region, o.unit)) return core_.paging.starve(o);
  if (core_.protocols.of(*o.region).transactions && core_.transactions.holds_up(o)) return;
  if (core_.absent.must_wait(*o.region, o.unit, 1)) return core_.absent.park(*o.region, o.unit, o);
  if (core_.recorder != nullptr && !std::exchange(o.recorded, true)) record_access(*o.region, o.address);
  // Once it waits in a bucket `o` belongs to whoever wakes its unit. The stream is of a thread that waits for this
  // driver at least.
  const auto outcome = o.composed ? let_in_whole(*o.region, o.unit, o.want, o.lost, *o.stream,
                                                 [this, &o](std::uint64_t missing) noexcept {
                                                   o.unit = missing;
                                                   core_.waiting.add(o);
                                                 })
                                  : let_in(*o.region, o.unit, o.want, o.lost, o.lost != 0, *o.stream,
                                           [this, &o](model::fault_outcome how) noexcept {
                                             if (sharing_ != nullptr)
                                               note_use(*o.region, o.unit, o.address, o.want, how);
                                             o.joined = how == model::fault_outcome::joined;
                                             core_.waiting.add(o);
                                           });
  if (outcome == model::fault_outcome::local) {
    if (sharing_ != nullptr && !o.composed) note_use(*o.region, o.unit, o.address, o.want, outcome);
    o.complete();
  }
  if (outcome == model::fault_outcome::lost) o.complete(QUIRE_LOST);
  if (core_.frames.over()) core_.paging.page_out();
}

void fault_path::begin_kernel_fault(region_slot& r, std::uint64_t address, bool write) noexcept {
  check_guards(address);
  if (r.closed.has(r.offset_of(address))) {
    base::die(QUIRE_BAD_ADDRESS,
              "a thread of this node has accessed 0x%lx, a closed page (PROT_NONE): detector 'thread' cannot give the "
              "thread its SIGSEGV",
              static_cast<unsigned long>(address));
  }
  if (r.change.frozen) return r.change.faults.push_back({address, write});
  const accessed what = accessed_at(r, address, write);
  if (what.page == accessed::by::wrong_page) {
    tell_wrong_page(r, address);
    base::die(QUIRE_BAD_ADDRESS, "detector 'thread' cannot give the thread its SIGSEGV");
  }
  const std::uint64_t unit = what.unit;
  if (core_.frames.limited() && core_.paging.starves(r, unit)) return core_.paging.starve(r, address, write);
  if (core_.absent.must_wait(r, unit, 1)) return core_.absent.park(r, unit, address, write);
  core_.stamp(fault_trace::point::entered, r.about.id, unit);
  if (core_.recorder != nullptr) record_access(r, address);
  note_wait(r, unit, write, 0);  // how long the kernel holds the thread is not known
  const access want = write ? access::write : access::read;
  if (what.page == accessed::by::composed_page) {
    (void)let_in_whole(r, unit, want, 0, kernel_stream_, [this](std::uint64_t) noexcept { ++kernel_waiting_; });
  } else {
    const auto outcome = let_in(r, unit, want, 0, true, kernel_stream_, [&](model::fault_outcome how) noexcept {
      if (sharing_ != nullptr) note_use(r, unit, address, want, how);
      ++kernel_waiting_;
    });
    if (sharing_ != nullptr && outcome == model::fault_outcome::local) note_use(r, unit, address, want, outcome);
  }
  if (core_.frames.over()) core_.paging.page_out();
}

/// The kernel may unmap a page by itself (it swaps, or makes huge pages of small ones). Then a thread faults on what it
/// may use, and there is nothing to permit. Or the unit was wanted for a composed page, and its own page was left for
/// later.
void fault_path::map_again(region_slot& r, std::uint64_t unit, access want, const model::actions& done) noexcept {
  for (const auto& a : done) {
    if (a.kind == model::action_kind::permit && a.unit == unit) return;
  }
  if (r.machine->mapped(unit) >= want) {
    core_.performer.map_again(r, unit, r.machine->mapped(unit));
  }
}

/// After a fault that cost no message: units next to it that this node may use as well need not fault one by one. Those
/// in a store are brought for the faults to come.
void fault_path::map_around(region_slot& r, std::uint64_t unit, sweeps& stream) noexcept {
  const model::region_id id{r.about.id};
  const std::uint64_t units = r.machine->units();
  const std::uint64_t count = stream.around(id, unit);
  if (count != 0) core_.absent.prefetch(r, unit + 1, count);
  std::uint64_t next = unit + 1;
  for (; next < units && next <= unit + count; ++next) {
    if (!r.can_be_guessed(next)) continue;
    if (!map_next(r, next)) break;
  }
  if (next > unit + 1) return stream.on_mapped_up_to(id, unit, next);
  const std::uint64_t least = unit - std::min(unit, stream.before(id, unit, units));
  std::uint64_t last = unit;
  while (last > least && r.can_be_guessed(last - 1) && map_next(r, last - 1)) --last;
  if (last < unit) return stream.on_mapped_down_to(id, unit, last, units);
  map_fresh(r, unit);
}

bool fault_path::map_next(region_slot& r, std::uint64_t unit) noexcept {
  core_.actions.clear();
  if (!may_map(r, unit)) return false;
  if (!r.machine->on_fault_around(unit, core_.actions)) return false;
  core_.performer.take(r, core_.actions);
  return true;
}

bool fault_path::may_map(const region_slot& r, std::uint64_t unit) const noexcept {
  return !core_.absent.is_absent(r, unit) && core_.planner.may_map(r, unit);
}

void fault_path::wake_units(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept {
  core_.stamp(fault_trace::point::woken, r.about.id, first);
  if (sharing_ != nullptr && !core_.protocols.of(r).relaxed) {
    for (std::uint64_t unit = first; unit < first + count; ++unit)
      sharing_->came(r.about.id, unit, r.machine->mapped(unit) == access::write);
  }
  if (r.detector->descriptor() >= 0) {
    mapping::wake(r, first, count);
    if (kernel_waiting_ != 0) --kernel_waiting_;
  }
  if (!core_.whole.empty()) core_.whole.on_woken(r, first, count);
  core_.planner.on_woken(count);
  core_.waiting.wake(r, first, count);
}

bool fault_path::drain_kernel_faults() noexcept {
  bool any = false;
  core_.builder.for_each_detector([&](detect::detector& d) {
    detect::fault_event event;
    while (d.descriptor() >= 0 && d.next(event)) {
      any = true;
      if (const region_ref r = core_.regions.find(event.address); r != nullptr)
        begin_kernel_fault(*r, event.address, event.write);
    }
  });
  core_.settle();
  return any;
}

}  // namespace quire::core
