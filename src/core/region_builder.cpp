// SPDX-License-Identifier: BSD-3-Clause
#include "core/region_builder.hpp"

#include <quire/system.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/copy_words.hpp"
#include "base/log.hpp"
#include "core/configuration.hpp"
#include "core/core.hpp"
#include "core/frames.hpp"
#include "core/host.hpp"
#include "core/mapping.hpp"
#include "core/protocol_set.hpp"
#include "core/region_slot.hpp"
#include "core/stored_units.hpp"
#include "core/survival.hpp"
#include "os/limits.hpp"
#include "os/process_file.hpp"
#include "os/segments.hpp"
#include "pool/host_file.hpp"
#include "protocol/contract/row.hpp"

namespace quire::core {

base::status region_builder::open() {
  split_ = core_.config.pool.which == pool::kind::fork;
  auto detector = mechanisms_.open_detector(core_.config.detector);
  if (!detector.ok()) return detector.why();
  detectors_[0] = std::move(detector.value());
  return {};
}

base::status region_builder::add(const region_description& about) {
  auto r = core_.regions.take_empty(about.id);
  r->orders = orders(about);
  const auto why = fill(*r, about);
  if (why.ok()) {
    core_.regions.publish(std::move(r));
  } else {
    empty(*r);
    core_.regions.keep_empty(std::move(r), about.id);
  }
  return why;
}

/// What a thread that found the region may read stays as it is.
void region_builder::empty(region_slot& r) noexcept {
  if (r.memory != nullptr && r.memory->application_view() != nullptr) {
    std::byte* const at = r.memory->application_view();
    if (const int error = r.memory->leave(); error != 0) {
      base::die(QUIRE_SYSTEM, "cannot give the memory of region %u back (pool '%s'): %s", unsigned{r.about.id},
                r.memory->name(), std::strerror(error));
    }
    for (unsigned view = 0; r.detector != nullptr && view <= r.views.fine(); ++view)
      r.detector->detach(at + r.views.distance({view, 0}), r.about.bytes);
  }
  for (const auto& m : r.made) {
    if (m != nullptr) m->forget();
  }
  r.backing.reset();
  r.frames.reset();
  r.twins.reset();
  r.states.reset();
  r.closed.forget(r.about.bytes);
  r.together.reset();
}

namespace {
void tell_failure(const region_slot& r, int error) noexcept {
  base::log(base::log_level::error, "cannot prepare a region of %lu MiB: %s (%s)%s",
            static_cast<unsigned long>(r.about.bytes >> 20), std::strerror(error), r.detector->name(),
            os::explain_error(error).text);
}

/// All nodes of the job have their frames together, and none gives a frame up that others may write.
bool is_one_host(const configuration& c) noexcept {
  return !c.hosts.empty() && !c.pages_out &&
         std::ranges::count(c.hosts, c.hosts[0]) == static_cast<std::ptrdiff_t>(c.hosts.size());
}
}  // namespace

/// Under relaxed consistency nodes of several hosts have different content of a unit, and those of one would have to
/// tell whose: there all nodes of the job are on one, and no write needs to be noticed.
bool region_builder::may_be_of_host(const region_description& about, const protocol::row& of) const noexcept {
  const configuration& c = core_.config;
  if (c.hosts.empty() || !of.can.host_frames) return false;
  return !of.can.relaxed ||
         (is_one_host(c) && c.races == protocol::traced::nothing && about.detector != QUIRE_DETECT_SCAN);
}

/// A region that orders has its units carry edges along, which no frame does.
bool region_builder::is_one_memory(const region_slot& r, const protocol::abilities& by) const noexcept {
  return r.memory->of_host() && is_one_host(core_.config) && (by.relaxed || !r.orders);
}
bool region_builder::has_one_memory(const region_slot& r) const noexcept { return is_one_memory(r, r.can()); }

/// Nodes of several hosts would each need to know whose content is in which host's frames before it is used.
bool region_builder::may_be_adopted_by_host() const noexcept {
  const configuration& c = core_.config;
  return is_one_host(c) && os::size_of(c.pool.host_file) >= pool::host_span;
}

/// What has release consistency, and asks for nothing else, has one memory wherever it lies, but for region zero.
bool region_builder::relaxed_are_one_memory() const {
  region_description any;
  any.id = 1;
  return std::ranges::all_of(core_.protocols.rows(), [&](const protocol::row* of) {
    return !of->can.relaxed || pool_for(any, *of).host_file >= 0;
  });
}

/// A checkpoint, and a node that comes later, have what was asked for: in another job it may come to something else.
bool region_builder::orders(const region_description& about) const {
  return about.orders == QUIRE_ORDERS_APART ? !relaxed_are_one_memory() : about.orders != 0;
}

/// Of a host's frames, where memory has a limit: one has one unit, and lies in the range of which frames are counted.
bool region_builder::can_be_counted(const region_description& about) const noexcept {
  return core_.config.host_holds != nullptr && about.unit_bytes % os::page_bytes == 0 && about.views == 0 &&
         about.layout == 0 && !core_.regions.is_adopted(about);
}

/// All nodes find the same of a host's frames: descriptions are the same, and so is what is asked of the job here.
pool::settings region_builder::pool_for(const region_description& about, const protocol::row& of) const {
  const configuration& c = core_.config;
  pool::settings pool = c.pool;
  if (about.pool != QUIRE_POOL_DEFAULT) pool.which = static_cast<pool::kind>(about.pool - QUIRE_POOL_MEMFD);
  pool.code = about.code != 0;
  pool.runs = c.runs(about.id);
  const bool of_host = may_be_of_host(about, of) && pool.which == pool::kind::memfd && !pool.code && !pool.runs &&
                       about.copies == 0 && about.backing == 0 && (!c.pages_out || can_be_counted(about)) &&
                       !c.survives &&
                       (!core_.regions.is_adopted(about) || (!orders(about) && may_be_adopted_by_host()));
  if (!of_host) pool.host_file = -1;
  return pool;
}

namespace {
base::status can_be_scanned(const region_slot& r, const protocol::row& of, bool survives) noexcept {
  if (!r.detector->scans() || (of.can.scan && !survives)) return {};
  base::log(base::log_level::error, "detector 'scan' finds writes too late for %s",
            of.can.scan ? "a job that goes on without its dead" : "anything but release consistency");
  return QUIRE_UNSUPPORTED;
}
}  // namespace

base::status region_builder::fill(region_slot& slot, const region_description& about) {
  region_slot* const r = &slot;
  r->about = about;
  r->views = views_of(about);
  r->minipages = nullptr;
  r->change = {};
  for (auto& m : r->made) m.reset();
  r->system_base.store(0, std::memory_order_relaxed);
  r->memory.reset();
  r->block.reset();
  r->store = nullptr;
  r->backing = core_.stored.take(about.backing);
  r->end = r->backing != nullptr ? r->backing->bytes() : UINT64_MAX;
  r->position = position_for(about);
  for (auto* const n : {&r->waited.faults, &r->waited.writes, &r->waited.ns}) n->store(0, std::memory_order_relaxed);
  if (const auto why = lay_out(*r); !why.ok()) return why;
  if (const auto why = fits_limit(*r); !why.ok()) return why;
  const protocol::row* const of = protocol::find(core_.config.protocols, about.consistency);
  if (of == nullptr) return QUIRE_INVALID;
  if (const auto why = can_survive(about, *of); !why.ok()) return why;
  const pool::settings pool = pool_for(about, *of);
  if (split_ && pool.which != pool::kind::fork) {
    base::log(base::log_level::error, "under pool 'fork' all regions are of that pool, not of '%s'",
              pool::name_of(pool.which));
    return QUIRE_UNSUPPORTED;
  }
  if (core_.frames.limits_all()) r->store = store_for(about);
  if (core_.frames.limits_all() && r->store == nullptr) return QUIRE_INVALID;
  auto detector = detector_for(about, pool);
  if (!detector.ok()) return detector.why();
  r->detector = detector.value();
  if (const auto why = can_be_scanned(*r, *of, core_.config.survives); !why.ok()) return why;
  if (const auto why = can_have_views(*r); !why.ok()) return why;
  if (const auto why = about.backing != 0 ? can_be_backed(*r, *of) : base::status{}; !why.ok()) return why;
  if (const auto why =
          of->can.transactions || about.copies != 0 ? can_have_private_views(*r, *of, pool) : base::status{};
      !why.ok())
    return why;
  if (of->can.transactions) r->about.copies = 1;
  const bool copies = r->about.copies != 0;
  const auto views = copies ? pool::view_kind::private_copies : pool::view_kind::shared;
  warn_of_mappings(*r);
  auto memory = mechanisms_.make_pool(pool, about.base, about.bytes, r->detector->accessible(),
                                      {r->views.fine(), r->views.stride()}, views);
  if (!memory.ok()) return memory.why();
  r->memory = std::move(memory.value());
  r->system_base.store(reinterpret_cast<std::uint64_t>(r->memory->system_view()), std::memory_order_relaxed);
  r->dumped.cover(about.bytes);
  int error = core_.frames.limits_all() || about.backing != 0 ? r->frames.make(r->layout.frames()) : 0;
  if (about.backing != 0) {
    core_.frames.note_backing();
    core_.host.start_crew();
  }
  if (error == 0) error = prepare(*r, *of);
  if (error == 0 && r->views.fine() != 0)
    error = r->states.make(about.bytes / view_map::page_bytes, r->layout.units_a_page());
  if (error == 0 && r->views.fine() != 0)
    error = r->together.make(static_cast<grouping>(about.grouping), r->layout.units(), r->layout.units_a_page());
  unsigned attached = 0;
  for (; error == 0 && attached <= r->views.fine(); ++attached) {
    error = r->detector->attach(r->memory->application_view() + r->views.distance({attached, 0}), about.bytes, copies);
  }
  if (error != 0) {
    tell_failure(*r, error);
    for (unsigned view = 0; view + 1 < attached; ++view)
      r->detector->detach(r->memory->application_view() + r->views.distance({view, 0}), about.bytes);
    r->detector = nullptr;  // it does not know the region
    return QUIRE_SYSTEM;
  }
  if (copies && !of->can.transactions && show(*r, false) != 0) return QUIRE_SYSTEM;  // at a restart
  put_in_charge(*r, *of);
  if (core_.survival.recovery().active()) r->change.frozen.add(freeze::recovery);
  return {};
}

namespace {
/// 0 or errno.
int unmap_all(region_slot& r) noexcept {
  const auto used = r.machine->used();
  for (std::uint64_t unit = used.first(), end = unit; unit < used.end(); unit = std::max(end, unit + 1)) {
    const model::access now = r.machine->mapped(unit);
    for (end = unit; now != model::access::none && end < used.end() && r.machine->mapped(end) == now;) ++end;
    if (end == unit) continue;
    if (const int error = mapping::protect(r, unit, end - unit, now, model::access::none); error != 0) return error;
  }
  return 0;
}
}  // namespace

int region_builder::take_from_host(region_slot& r) noexcept {
  const bool shared = core_.frames.shares(r);
  std::byte* host = nullptr;
  int error = unmap_all(r);
  if (error == 0) error = r.memory->own_frames(host);
  if (error != 0) return error;
  r.system_base.store(reinterpret_cast<std::uint64_t>(r.memory->system_view()), std::memory_order_relaxed);
  const auto used = r.machine->used();
  for (std::uint64_t unit = used.first(); unit < used.end(); ++unit) {
    if (!r.machine->knows(unit) || !r.machine->has_content(unit) || !r.machine->is_written(unit)) continue;
    if (shared && !core_.frames.is_here(r, r.layout.frame_of(unit))) continue;  // it is in the store
    base::copy_words(r.system(unit), host + r.layout.offset_of(unit), r.bytes_of(unit));
  }
  for (unsigned view = 0; error == 0 && view <= r.views.fine(); ++view) {
    std::byte* const at = r.memory->application_view() + r.views.distance({view, 0});
    r.detector->detach(at, r.about.bytes);
    error = r.detector->attach(at, r.about.bytes, false);
  }
  if (error == 0 && r.detector->accessible()) error = r.memory->make_accessible();
  if (error != 0) return error;
  if (shared) core_.frames.leave_host(r);
  r.dumped.for_each(r.about.bytes, [&](std::uint64_t first, std::uint64_t bytes) { r.memory->dump(first, bytes); });
  for (const auto& m : r.made) {
    if (m != nullptr) m->on_frames_apart();
  }
  return 0;
}

/// Mapped anew first, in one step, with no permission: a thread that the detector does not watch for a moment could go
/// by what is there.
int region_builder::show(region_slot& r, bool copies) noexcept {
  std::byte* const at = r.memory->application_view();
  int error = r.memory->show(copies ? pool::view_kind::private_copies : pool::view_kind::shared);
  r.detector->detach(at, r.about.bytes);
  if (error == 0) error = r.detector->attach(at, r.about.bytes, copies);
  if (error == 0 && r.detector->accessible()) error = r.memory->make_accessible();
  if (error != 0) return error;
  r.dumped.for_each(r.about.bytes, [&](std::uint64_t first, std::uint64_t bytes) { r.memory->dump(first, bytes); });
  return 0;
}

/// Stores have room for the shared range, and behind it for what was adopted.
std::uint64_t region_builder::position_for(const region_description& about) {
  if (!core_.regions.is_adopted(about)) return about.base - core_.config.base;
  const std::lock_guard guard(regions_mutex_);
  return core_.config.bytes + std::exchange(adopted_bytes_, adopted_bytes_ + about.bytes);
}

/// Where its units lie.
base::status region_builder::lay_out(region_slot& r) const {
  const auto rows = core_.config.layouts;
  const auto row = std::ranges::find(rows, r.about.layout, [](const layout_row* one) { return one->id; });
  if (row == rows.end()) return QUIRE_INVALID;
  if ((*row)->make == nullptr) {
    r.layout = unit_layout::uniform(r.about.bytes, r.about.unit_bytes);
    return {};
  }
  auto made = (*row)->make({r.about.bytes, r.about.unit_bytes, r.about.views});
  if (made == nullptr) {
    base::log(base::log_level::error,
              "a region of %lu KiB with units of %u bytes and %u fine views cannot have the layout '%s'",
              static_cast<unsigned long>(r.about.bytes >> 10), r.about.unit_bytes, unsigned{r.about.views},
              (*row)->name);
    return QUIRE_INVALID;
  }
  r.minipages = dynamic_cast<class minipages*>(made.get());
  r.layout = unit_layout::of(*r.layout_parts.emplace_back(std::move(made)));
  return {};
}

/// What does not go with fine views.
base::status region_builder::can_have_views(const region_slot& r) const noexcept {
  if (r.views.fine() == 0) return {};
  if (!r.detector->scans()) return {};
  base::log(base::log_level::error,
            "a region with minipages (quire_region_options.minipage_bytes, .views) does not go with detector 'scan', "
            "which would look "
            "at all views");
  return QUIRE_UNSUPPORTED;
}

/// What does not go with private views. Of pools their makers know.
base::status region_builder::can_have_private_views(const region_slot& r, const protocol::row& of,
                                                    const pool::settings& pool) const noexcept {
  const char* const why =
      r.detector->scans()             ? "detector 'scan'"
      : r.detector->descriptor() >= 0 ? "detector 'thread'"
      : r.views.fine() != 0           ? "minipages"
      : core_.config.pages_out && !of.can.page_out
          ? "a memory limit of a node (QUIRE_MEMORY_LIMIT), where transactions commit by the token (QUIRE_COMMIT)"
      : r.orders                          ? "quire_region_options.orders"
      : core_.regions.is_adopted(r.about) ? "memory that was adopted"
      : pool.which == pool::kind::fork    ? "pool 'fork'"
                                          : nullptr;
  if (why == nullptr) return {};
  base::log(base::log_level::error, "a transactional region does not go with %s", why);
  return QUIRE_UNSUPPORTED;
}

/// What does not go with a store of the region's own.
base::status region_builder::can_be_backed(const region_slot& r, const protocol::row& of) const noexcept {
  const char* const why = !of.can.stores                                       ? of.name
                          : r.detector->scans()                                ? "detector 'scan'"
                          : r.detector->descriptor() >= 0                      ? "detector 'thread'"
                          : r.layout.units_a_page() > 1 || r.views.fine() != 0 ? "minipages"
                          : r.about.code != 0                                  ? "code"
                          : r.about.placement == QUIRE_PLACE_FIRST_TOUCH       ? "placement by first touch"
                          : core_.regions.is_adopted(r.about)                  ? "memory that was adopted"
                                                                               : nullptr;
  if (why != nullptr) {
    base::log(base::log_level::error, "a region with a store of its own does not go with %s", why);
    return QUIRE_UNSUPPORTED;
  }
  const bool is_home = r.about.placement != QUIRE_PLACE_NODE || model::node_id{r.about.home} == core_.config.self;
  if (is_home && r.backing == nullptr) {
    base::log(base::log_level::error, "this node has no store of number %u to keep region %u in",
              unsigned{r.about.backing}, unsigned{r.about.id});
    return QUIRE_INVALID;
  }
  if (r.backing == nullptr || r.about.unit_bytes % r.backing->grain() == 0) return {};
  base::log(base::log_level::error,
            "a unit of %u bytes is no multiple of the %zu bytes that %s reads and writes at a time", r.about.unit_bytes,
            r.backing->grain(), r.backing->name());
  return QUIRE_INVALID;
}

/// Where protection is the system's (detector 'segv'), each page of each fine view may become a mapping of its own.
void region_builder::warn_of_mappings(const region_slot& r) const noexcept {
  const std::uint64_t pages = r.about.bytes / view_map::page_bytes, needed = pages * r.views.fine();
  if (needed == 0 || r.detector->accessible()) return;
  const std::uint64_t most = os::most_mappings();
  if (needed <= most / 2) return;
  base::log(base::log_level::warning,
            "region %u has %lu pages in %u fine views: detector 'segv' may need as many mappings, of which this system "
            "allows %lu to a process "
            "(vm.max_map_count); use userfaultfd (quire info), larger minipages, or raise the limit",
            unsigned{r.about.id}, static_cast<unsigned long>(pages), r.views.fine(), static_cast<unsigned long>(most));
}

/// Threads can use several of its units at a time.
base::status region_builder::fits_limit(const region_slot& r) const noexcept {
  const configuration& c = core_.config;
  const std::uint64_t limit = c.memory_limit != 0 ? c.memory_limit : r.about.backing != 0 ? c.cache_limit : 0;
  if (limit == 0 || r.layout.most_bytes() <= limit / 16) return {};
  const char* const option = c.memory_limit != 0 ? "QUIRE_MEMORY_LIMIT" : "QUIRE_CACHE_LIMIT";
  base::log(base::log_level::error,
            "a unit of %u KiB is more than a sixteenth of %s, %lu KiB: threads could not use several at a time; make "
            "units smaller, or "
            "the limit larger",
            static_cast<unsigned>(r.layout.most_bytes() >> 10), option, static_cast<unsigned long>(limit >> 10));
  return QUIRE_INVALID;
}

/// Whether the region can outlast the death of a node, if it has to.
base::status region_builder::can_survive(const region_description& about, const protocol::row& of) const noexcept {
  if (!core_.config.survives) return {};
  // Of two homes the one counts that was chosen after more deaths, and who joins is no dead node any more.
  if (of.can.relaxed && core_.config.first_nodes() < core_.config.nodes) {
    base::log(base::log_level::error, "a region with %s consistency cannot be in a job that nodes join", of.name);
    return QUIRE_UNSUPPORTED;
  }
  const bool held_by_kernel = about.detector == QUIRE_DETECT_USERFAULT_THREAD;
  if (of.can.survive && (of.can.replicas || !core_.config.replicas) && !held_by_kernel) return {};
  base::log(base::log_level::error,
            "a region with %s%s cannot go on when a node is lost: make it without, or set QUIRE_ON_FAILURE to end",
            held_by_kernel ? "detector 'thread'" : of.name, held_by_kernel ? "" : " consistency");
  return QUIRE_UNSUPPORTED;
}

int region_builder::prepare(region_slot& r, const protocol::row& of) {
  if (r.made_of(of.id) != nullptr) return 0;
  const region_description& about = r.about;
  protocol::region_shape shape;
  shape.region = model::region_id{about.id};
  shape.units = r.layout.units();
  shape.unit_pages = static_cast<std::uint32_t>(std::max<std::uint64_t>(r.layout.most_bytes() / os::page_bytes, 1));
  shape.units_a_page = r.layout.units_a_page();
  shape.first_touch = about.placement == QUIRE_PLACE_FIRST_TOUCH;
  shape.beside_others = r.orders;
  shape.scans = r.detector->scans();
  shape.stored = about.backing != 0;
  shape.refills = r.backing != nullptr;
  const auto untouched = core_.regions.is_adopted(about)
                             ? model::placement::node
                             : model::placement::block;  // where units are until a node touches them
  const auto placement = shape.first_touch ? untouched : static_cast<model::placement>(about.placement);
  // Of a heap each node has a part, also one that joins later; what is not a heap is for those that are there.
  const unsigned founders = core_.config.first_nodes();
  shape.managers = directory::manager_map::make(placement, about.heap != 0 ? core_.config.nodes : founders, shape.units,
                                                model::node_id{about.home}, r.layout.units_a_page(), founders);
  if (r.memory->of_host() && may_be_of_host(about, of)) {
    shape.hosts.first = core_.config.hosts.data();
    shape.one_memory = is_one_memory(r, of.can);
  }
  int error = of.can.twins ? r.twins.make(about.bytes) : 0;
  if (error != 0) return error;
  if (shape.scans) scanning_ = true;
  r.made[of.id.value()] = core_.protocols.make_machine(of, shape, error);
  return error;
}

void region_builder::put_in_charge(region_slot& r, const protocol::row& of) noexcept {
  if (of.can.relaxed) core_.relaxes = true;
  r.machine.set(r.made_of(of.id), of.can);
  for (const protocol::row* const one : core_.protocols.rows())
    core_.protocols.domain(one->id).on_region(model::region_id{r.about.id}, *r.machine, r.about.life);
}

/// The store that a region names; made for the first that does. Null, and a line, if it cannot have it.
store::store* region_builder::store_for(const region_description& about) {
  const std::lock_guard guard(regions_mutex_);
  const store::row* const of = store::find(core_.config.stores, about.store);
  if (of == nullptr) {
    base::log(base::log_level::error, "this node has no store of number %u", static_cast<unsigned>(about.store));
    return nullptr;
  }
  auto& made = stores_[of->id];
  if (made == nullptr) made = of->make({core_.config.page_out_directory});
  const std::uint32_t together =
      std::max<std::uint32_t>(about.unit_bytes, os::page_bytes);  // units of a page leave together
  if (together % made->grain() == 0) return made.get();
  base::log(base::log_level::error,
            "a unit of %u bytes is no multiple of the %zu bytes that store '%s' reads and writes at a time", together,
            made->grain(), of->name);
  return nullptr;
}

/// The detector that a region asks for, or the job's, or one that its pool can have; each kind is opened once.
base::result<detect::detector*> region_builder::detector_for(const region_description& about,
                                                             const pool::settings& pool) {
  const std::lock_guard guard(regions_mutex_);
  const bool userfault = pool::takes_userfault(pool);
  const std::uint8_t asked = about.detector;
  auto which =
      asked == QUIRE_DETECT_DEFAULT ? core_.config.detector : static_cast<detect::kind>(asked - QUIRE_DETECT_USERFAULT);
  if (!userfault && which != detect::kind::segv) {
    if (asked != QUIRE_DETECT_DEFAULT) {
      base::log(base::log_level::error, "userfaultfd cannot watch pool '%s'; ask for detector 'segv'",
                pool::name_of(pool.which));
      return QUIRE_UNSUPPORTED;
    }
    which = detect::kind::segv;
  }
  if (which == detect::kind::segv && about.code != 0) which = detect::kind::segv_code;
  if (which == detect::kind::segv && core_.config.runs(about.id)) which = detect::kind::segv_runs;
  if (which == detect::kind::userfault_inline && about.code != 0) which = detect::kind::userfault_code;
  if (which == detect::kind::userfault_inline && core_.config.runs(about.id)) which = detect::kind::userfault_runs;
  if (which == core_.config.detector) return detectors_[0].get();
  auto& slot = detectors_[1 + static_cast<std::size_t>(which)];
  if (slot == nullptr) {
    auto opened = mechanisms_.open_detector(which);
    if (!opened.ok()) return opened.why();
    slot = std::move(opened.value());
    core_.host.watch_faults(*slot);
  }
  return slot.get();
}

}  // namespace quire::core
