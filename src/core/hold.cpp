// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints, as far as the engine goes: content that stays where it is and what it is while it is written to files, and content
// that comes from files at a restart.
//
//   all have called   a collective, as for a change of consistency (change.cpp): from here on nobody waits for what a program does
//   freeze, drain     of all regions: what threads ask for is kept for later, twins are sent home, nothing is on its way. Then each
//                     unit has one node that keeps its content
//   stop writers      what is mapped for writing is write-protected, below the protocols: who writes now faults, and waits
//   let go            permissions as before, and what was kept for later is done: nobody has lost a page by it
//
// hold(), let_go() and adopt() are called by an application thread; what they run as the driver says so.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "core/collect.hpp"
#include "core/core.hpp"

namespace quire::core {

namespace {

/// Calls f(first, count) for runs of units of which `what` holds, among those that this node has used.
template <class Predicate, class F>
void for_each_run(const region_slot& r, Predicate&& what, F&& f) {
  std::uint64_t first = 0, end = 0;  // of the run that is open
  r.dumped.for_each(r.about.bytes, [&](std::uint64_t offset, std::uint64_t bytes) {
    const std::uint64_t stop = (offset + bytes) >> r.unit_shift;
    for (std::uint64_t unit = offset >> r.unit_shift; unit < stop; ++unit) {
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

base::status core::hold() noexcept {
  totals t;
  regions_.for_each([&](const region_slot& r) { t.bad += r.block != nullptr ? 1 : 0; });
  if (const auto why = gather(t); !why.ok()) return why;
  if (t.bad != 0) return QUIRE_INVALID;
  t = {};
  as_driver([&] { freeze_all(t); });
  base::status why = gather(t);
  if (why.ok() && t.pins != 0) why = QUIRE_BUSY;
  if (why.ok()) why = drain(nullptr, t);
  if (why.ok()) {
    t = {};
    as_driver([&] { stop_writers(t); });
    why = gather(t);
    if (why.ok() && t.failed != 0) why = QUIRE_SYSTEM;
  }
  if (!why.ok()) let_go();
  return why;
}

void core::freeze_all(totals& t) noexcept {
  regions_.for_each([](region_slot& r) {
    r.change.frozen = true;
    if (r.made.release != nullptr) r.made.release->keep_homes(true);
  });
  (void)end_holds();
  consistency_.release(true);
  pins_.for_each([&](const directory::pin&) { ++t.pins; });
  add_up(nullptr, t);
}

void core::stop_writers(totals& t) noexcept {
  writers_stopped_ = true;
  regions_.for_each([&](region_slot& r) {
    for_each_writable_run(r, [&](std::uint64_t first, std::uint64_t count) {
      const int error =
          r.detector->protect(r.application(first), r.bytes_of(count), model::access::write, model::access::read);
      if (error == 0) return;
      if (t.failed == 0) {
        base::log(base::log_level::error, "cannot write-protect shared memory for a checkpoint: %s (%s)",
                  std::strerror(error), r.detector->name());
      }
      t.failed = 1;
    });
  });
}

void core::let_go() noexcept {
  as_driver([&] {
    const bool stopped = std::exchange(writers_stopped_, false);
    regions_.for_each([&](region_slot& r) {
      if (!stopped) return;
      for_each_writable_run(r, [&](std::uint64_t first, std::uint64_t count) {
        // A page that the kernel has unmapped meanwhile comes back by a fault. That is all that may fail.
        (void)!r.detector->permit(r.application(first), r.bytes_of(count), model::access::read, model::access::write);
      });
    });
    regions_.for_each([&](region_slot& r) { thaw(r, r.release != nullptr && r.block != nullptr); });
  });
}

std::vector<core::kept_run> core::kept() noexcept {
  std::vector<kept_run> all;
  as_driver([&] {
    regions_.for_each([&](region_slot& r) {
      const auto wanted = [&](std::uint64_t unit) { return r.machine->is_written(unit) && r.machine->keeps(unit); };
      for_each_run(r, wanted, [&](std::uint64_t first, std::uint64_t count) {
        for (std::uint64_t unit = first; unit < first + count;) {
          const bool here = frames_.in_memory(r, unit);
          std::uint64_t end = unit + 1;
          while (end < first + count && frames_.in_memory(r, end) == here) ++end;
          all.push_back({&r, unit, end - unit, here});
          unit = end;
        }
      });
    });
  });
  return all;
}

int core::read_paged_out(const region_slot& r, std::uint64_t unit, std::span<std::byte> into) const noexcept {
  return frames_.look(r, unit, into);
}

// ---- Restart

base::status core::adopt(region_slot& r, std::uint64_t first, std::uint64_t count, content_source read,
                           void* context) noexcept {
  constexpr std::uint64_t most_at_once = 4u << 20;
  const std::uint64_t step = std::max<std::uint64_t>(
      (frames_.limited() ? std::min(most_at_once, frames_.limit() / 16) : most_at_once) >> r.unit_shift, 1);
  std::vector<std::byte> buffer;
  for (const std::uint64_t end = first + count; first < end;) {
    const std::uint64_t units = std::min(step, end - first);
    bool fits = true;
    as_driver([&] {
      // A limit leaves room for what the program needs at once; the rest waits in the page-out file.
      fits = !frames_.limited() || frames_.used() + r.bytes_of(units) <= frames_.limit() / 2;
      if (fits) frames_.use(r, first, units, content::promised);
    });
    if (!fits) buffer.resize(r.bytes_of(units));
    const std::span<std::byte> into = fits ? std::span(r.system(first), r.bytes_of(units)) : std::span(buffer);
    if (const auto why = read(context, first, into); !why.ok()) return why;
    int error = 0;
    as_driver([&] {
      if (!fits) error = frames_.deposit(r, first, units, buffer);
      for (std::uint64_t unit = first; error == 0 && unit < first + units; ++unit) {
        model::handover h;
        h.right = model::access::write;
        h.written = h.manages = true;
        h.owner = config_.self;
        actions_.clear();
        r.sequential != nullptr ? r.sequential->take(unit, h, actions_) : r.release->take(unit, h, actions_);
        performer_.take(r, actions_);
      }
      performer_.flush();
    });
    if (error != 0) {
      base::log(base::log_level::error,
                "cannot write pages to a file in %s: %s; QUIRE_PAGE_OUT_DIR sets another directory, and a higher "
                "QUIRE_MEMORY_LIMIT needs less of it",
                frames_.directory().c_str(), std::strerror(error));
      return QUIRE_SYSTEM;
    }
    first += units;
  }
  return {};
}

sync::saved_objects core::save_objects() noexcept {
  sync::saved_objects all;
  as_driver([&] { all = sync_.save(); });
  return all;
}
bool core::load_objects(std::span<const sync::saved_objects> all) noexcept {
  bool good = false;
  as_driver([&] { good = sync_.load(all); });
  return good;
}
bool core::has_objects() noexcept {
  bool any = false;
  as_driver([&] { any = sync_.is_used(); });
  return any;
}

}  // namespace quire::core
