// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints, as far as the engine goes: content that stays where it is and what it is while it is written to files,
// and content that comes from files at a restart.
//
//   all have called   a collective, as for a change of consistency (change.cpp): from here on nobody waits for what a
//                     program does
//   freeze, drain     of all regions: what threads ask for is kept for later, twins are sent home, nothing is on its
//                     way. Then each unit has one node that keeps its content
//   stop writers      what is mapped for writing is write-protected, below the protocols: who writes now faults, and
//                     waits
//   let go            permissions as before, and what was kept for later is done: nobody has lost a page by it
//
// hold(), let_go() and adopt() are called by an application thread; what they run as the driver says so.
#include "core/hold.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "core/change.hpp"
#include "core/configuration.hpp"
#include "core/content.hpp"
#include "core/core.hpp"
#include "core/counters.hpp"
#include "core/frames.hpp"
#include "core/held_units.hpp"
#include "core/host.hpp"
#include "core/mapping.hpp"
#include "core/minipages/whole_pages.hpp"
#include "core/pins.hpp"
#include "core/protocol_set.hpp"
#include "core/region_slot.hpp"
#include "directory/pins.hpp"
#include "model/action.hpp"

namespace quire::core {

namespace {

constexpr std::uint64_t while_regions_go_ns = 100'000;

/// Calls f(first, count) for runs of units of which `what` holds, among those that this node has used. Numbers that
/// nobody uses end no run.
template <class Predicate, class F>
void for_each_run(const region_slot& r, Predicate&& what, F&& f) {
  std::uint64_t first = 0, end = 0;  // of the run that is open
  r.dumped.for_each(r.about.bytes, [&](std::uint64_t offset, std::uint64_t bytes) {
    const unit_range part = r.layout.under(offset, bytes);
    for (std::uint64_t unit = std::max(part.first, end); unit < part.end; ++unit) {
      if (first != end && unit == end && r.bytes_of(unit) == 0) ++end;
      if (!what(unit)) continue;
      if (unit != end || first == end) {
        if (first != end) f(first, end - first);
        first = unit;
      }
      end = unit + 1;
    }
  });
  if (first != end) f(first, end - first);
}

template <class F>
void for_each_writable_run(const region_slot& r, F&& f) {
  if (r.scans()) return;  // there is no stopping them
  for_each_run(
      r, [&](std::uint64_t unit) { return r.machine->mapped(unit) == model::access::write; }, f);
}

}  // namespace

base::status content_hold::hold() noexcept {
  totals t;
  core_.as_driver([&] {
    core_.regions.for_each([&](const region_slot& r) {
      t.bad += r.block != nullptr ? 1 : 0;
      // Files of checkpoints know the shared range, and nothing of what nodes have of code beside its regions.
      t.failed += r.can().checkpoint && !core_.regions.is_adopted(r.about) && r.about.code == 0 ? 0 : 1;
    });
  });
  if (const auto why = core_.changes.gather(t); !why.ok()) return why;
  if (t.failed != 0) return QUIRE_UNSUPPORTED;
  if (t.bad != 0) return QUIRE_INVALID;
  base::status why;
  for (;;) {
    t = {};
    core_.as_driver([&] { freeze_all(t); });
    why = core_.changes.gather(t);
    if (!why.ok() || t.call == 0) break;
    let_go();  // regions are about to come or to go, which takes as long as messages do
    core_.host.pause(while_regions_go_ns);
  }
  if (why.ok() && t.pins != 0) why = QUIRE_BUSY;
  if (why.ok()) why = core_.changes.drain(nullptr, t);
  if (why.ok()) {
    wait_for_stores();
    t = {};
    core_.as_driver([&] { stop_writers(t); });
    why = core_.changes.gather(t);
    if (why.ok() && t.failed != 0) why = QUIRE_SYSTEM;
  }
  if (!why.ok()) let_go();
  return why;
}

/// What is on its way to stores, and from them, ends by itself; nobody asks for more.
void content_hold::wait_for_stores() noexcept {
  for (bool waits = true;;) {
    core_.as_driver([&] { waits = core_.frames.any_staged() || core_.frames.any_under_way(); });
    if (!waits) return;
    core_.host.pause(while_regions_go_ns);
  }
}

void content_hold::freeze_all(totals& t) noexcept {
  under_way_ = true;
  t.call += making_;
  core_.regions.for_each([&t](region_slot& r) {
    t.call += r.change.frozen.has(freeze::end) ? 1 : 0;
    r.change.frozen.add(freeze::hold);
    r.machine->successor().stay(true);
  });
  (void)core_.held.end();
  core_.whole.end();
  core_.protocols.release(true);
  core_.pinned.for_each([&](const directory::pin& p) {  // those of commits end by themselves
    const region_slot* const r = core_.regions.slot(p.region);
    t.pins += r == nullptr || r->can().pins ? 1 : 0;
  });
  core_.changes.add_up(nullptr, t);
}

void content_hold::stop_writers(totals& t) noexcept {
  writers_stopped_ = true;
  core_.regions.for_each([&](region_slot& r) {
    for_each_writable_run(r, [&](std::uint64_t first, std::uint64_t count) {
      const int error = mapping::protect(r, first, count, model::access::write, model::access::read);
      if (error == 0) return;
      if (t.failed == 0) {
        base::log(base::log_level::error, "cannot write-protect shared memory for a checkpoint: %s (%s)",
                  std::strerror(error), r.detector->name());
      }
      t.failed = 1;
    });
  });
}

void content_hold::let_go() noexcept {
  core_.as_driver([&] {
    under_way_ = false;
    const bool stopped = std::exchange(writers_stopped_, false);
    core_.regions.for_each([&](region_slot& r) {
      if (!stopped) return;
      for_each_writable_run(r, [&](std::uint64_t first, std::uint64_t count) {
        // A page that the kernel has unmapped meanwhile comes back by a fault. That is all that may fail.
        (void)!mapping::permit(r, first, count, model::access::read, model::access::write);
      });
    });
    core_.regions.for_each([&](region_slot& r) { core_.changes.thaw(r, freeze::hold, r.block != nullptr); });
  });
}

std::vector<kept_run> content_hold::kept(const region_slot* only) noexcept {
  std::vector<kept_run> all;
  core_.as_driver([&] {
    core_.regions.for_each([&](region_slot& r) {
      if (only != nullptr && only != &r) return;
      const auto wanted = [&](std::uint64_t unit) {
        return r.machine->is_written(unit) && r.machine->keeps(unit) && !is_in_backing(r, unit);
      };
      for_each_run(r, wanted, [&](std::uint64_t first, std::uint64_t count) {
        for (std::uint64_t unit = first; unit < first + count;) {
          const bool here = core_.frames.in_memory(r, unit);
          std::uint64_t end = unit + 1;
          while (end < first + count && core_.frames.in_memory(r, end) == here) ++end;
          all.push_back({&r, unit, end - unit, here});
          unit = end;
        }
      });
    });
  });
  return all;
}

/// Of a unit that this node keeps.
bool content_hold::is_in_backing(const region_slot& r, std::uint64_t unit) const noexcept {
  if (r.backing == nullptr || r.machine->authority_of(unit) != core_.config.self) return false;
  return r.machine->stored().is_clean(unit) ||
         (core_.frames.is_away(r, r.layout.frame_of(unit)) && core_.frames.is_backed(r, r.layout.frame_of(unit)));
}

std::vector<kept_run> content_hold::kept_in_backing(region_slot& r, std::uint64_t bytes) noexcept {
  std::vector<kept_run> all;
  core_.as_driver([&] {
    const std::uint64_t units = r.layout.under(0, std::min(bytes, r.about.bytes)).end;
    for (std::uint64_t unit = 0; bytes != 0 && unit < units; ++unit) {
      if (!r.machine->keeps(unit) || !is_in_backing(r, unit)) continue;
      if (!all.empty() && all.back().first + all.back().count == unit) {
        ++all.back().count;
      } else {
        all.push_back({&r, unit, 1, false});
      }
    }
  });
  return all;
}

int content_hold::read_paged_out(const region_slot& r, std::uint64_t unit, std::span<std::byte> into) const noexcept {
  return is_in_backing(r, unit) ? r.backing->fill(r.layout.offset_of(unit), into) : core_.frames.look(r, unit, into);
}

// ---- Restart

base::status content_hold::adopt(region_slot& r, std::uint64_t first, std::uint64_t count,
                                 store::store& from) noexcept {
  constexpr std::uint64_t most_at_once = 4u << 20;
  const std::uint64_t step = core_.frames.limits(r) ? std::min(most_at_once, core_.frames.limit() / 16) : most_at_once;
  std::vector<std::byte> buffer;
  for (const std::uint64_t end = first + count; first < end;) {
    std::uint64_t units = std::min(r.layout.fitting(first, step), end - first);
    // Several files may have parts of a frame: it is in one place all the same.
    const std::uint64_t frame = r.layout.frame_of(first), of_frame = r.layout.units_of(frame).end - first;
    if (core_.frames.limits(r) && r.layout.units_a_page() > 1) units = std::min(units, of_frame);
    bool fits = true;
    core_.as_driver([&] {
      // A limit leaves room for what the program needs at once; the rest waits in the region's store.
      const auto has_room = [&] {
        return !core_.frames.is_away(r, frame) &&
               core_.frames.used() + r.bytes_of(first, units) <= core_.frames.limit() / 2;
      };
      fits = !core_.frames.limits(r) || core_.frames.is_here(r, frame) || has_room();
      if (fits) use_content(core_.frames, r, first, units, content::promised);
    });
    // Frames come to the store as a whole, and later parts of them to what is there.
    const bool part = !fits && core_.frames.is_away(r, frame);
    const frame_range whole = r.layout.frames_of(first, units);
    const std::uint64_t deposited = part ? first : r.layout.units_of(whole.first).first;
    if (!fits)
      buffer.assign(part ? r.bytes_of(first, units) : r.layout.bytes_of_frames(whole.first, whole.count()),
                    std::byte{0});
    const std::span<std::byte> into =
        fits ? std::span(r.system(first), r.bytes_of(first, units))
             : std::span(buffer).subspan(r.layout.offset_of(first) - r.layout.offset_of(deposited),
                                         r.bytes_of(first, units));
    if (from.fill(core_.frames.position_of(r, first), into) != 0) return QUIRE_DAMAGED;
    const int error = fits ? 0 : core_.frames.deposit(r, deposited, buffer);
    if (error != 0) {
      base::log(base::log_level::error,
                "cannot write pages to a file in %s: %s; QUIRE_PAGE_OUT_DIR sets another directory, and a higher "
                "QUIRE_MEMORY_LIMIT needs less of it",
                r.store->where(), std::strerror(error));
      return QUIRE_SYSTEM;
    }
    core_.as_driver([&] {
      if (!fits) core_.frames.deposited(r, first, units);
      for (std::uint64_t unit = first; unit < first + units; ++unit) {
        if (r.bytes_of(unit) == 0) continue;
        model::handover h;
        h.right = model::access::write;
        h.written = h.manages = true;
        h.owner = core_.config.self;
        core_.actions.clear();
        r.machine->successor().take(unit, h, core_.actions);
        core_.take_step(r);
      }
      core_.perform_steps();
    });
    first += units;
  }
  return {};
}

}  // namespace quire::core
