// SPDX-License-Identifier: BSD-3-Clause
// Making a core, and the regions of a node.
#include "core/core.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.hpp"

namespace quire::core {
namespace {
/// A unit with a twin cannot leave memory.
configuration with_few_twins(configuration c) {
  if (c.memory_limit != 0) c.twin_bytes = std::min(c.twin_bytes, c.memory_limit / 4);
  return c;
}
}

core::core(const configuration& c, std::unique_ptr<transport::transport> t, bootstrap::bootstrap& job, host& threads, mechanisms& machine)
    : config_(with_few_twins(c)), transport_(std::move(t)), job_(job), host_(threads), mechanisms_(machine), pins_(c.pin_limit),
      consistency_(c.self, c.nodes, *this, config_.twin_bytes / os::page_bytes), diffs_(*this, c.nodes), sync_(c.self, c.nodes),
      watch_(c.self.value(), c.nodes, c.peer_limit_ns), survival_(c.self.value(), c.nodes, c.replicas) {
  frames_.open(c.memory_limit, c.page_out_directory, c.base);
  if (frames_.limited()) page_out_.open(c.nodes, c.memory_limit);
  holds_.reserve(256);
  consistency_.open().pins = &pins_;
  open_pins();
}

base::status core::open() {
  split_ = config_.pool.which == pool::kind::fork;
  regions_.cover(config_.base, config_.bytes);
  auto detector = mechanisms_.open_detector(config_.detector);
  if (!detector.ok()) return detector.why();
  detectors_[0] = std::move(detector.value());
  return {};
}

base::status core::add_region(const region_description& about) {
  auto r = std::make_unique<region_slot>();
  r->about = about;
  r->unit_shift = static_cast<unsigned>(__builtin_ctz(about.unit_bytes));
  if (frames_.limited() && about.unit_bytes > frames_.limit() / 16) {
    base::log(base::log_level::error, "a unit of %u KiB is more than a sixteenth of QUIRE_MEMORY_LIMIT: threads could not use several at a "
              "time; make units smaller, or the limit larger", about.unit_bytes >> 10);
    return QUIRE_INVALID;
  }
  if (const auto why = can_survive(about); !why.ok()) return why;
  pool::settings pool = config_.pool;
  if (about.pool != QUIRE_POOL_DEFAULT) pool.which = static_cast<pool::kind>(about.pool - QUIRE_POOL_MEMFD);
  if (split_ && pool.which != pool::kind::fork) {
    base::log(base::log_level::error, "under pool 'fork' all regions are of that pool, not of '%s'", pool::name_of(pool.which));
    return QUIRE_UNSUPPORTED;
  }
  auto detector = detector_for(about.detector, pool);
  if (!detector.ok()) return detector.why();
  r->detector = detector.value();
  if (r->detector->scans() && about.consistency != QUIRE_RELEASE) {
    base::log(base::log_level::error, "detector 'scan' finds writes too late for anything but release consistency");
    return QUIRE_UNSUPPORTED;
  }
  auto memory = mechanisms_.make_pool(pool, about.base, about.bytes, r->detector->accessible());
  if (!memory.ok()) return memory.why();
  r->memory = std::move(memory.value());
  r->dumped.cover(about.bytes);
  const auto consistency = static_cast<quire_consistency>(about.consistency);
  int error = frames_.limited() ? r->frames.make(about.bytes >> r->unit_shift) : 0;
  if (error == 0) error = prepare(*r, consistency);
  if (error == 0) error = r->detector->attach(r->memory->application_view(), about.bytes);
  if (error != 0) {
    base::log(base::log_level::error, "cannot prepare a region of %lu MiB: %s (%s)",
              static_cast<unsigned long>(about.bytes >> 20), std::strerror(error), r->detector->name());
    return QUIRE_SYSTEM;
  }
  put_in_charge(*r, consistency);
  r->change.frozen = survival_.recovery.active();
  regions_.publish(std::move(r));
  return {};
}

/// Whether the region can outlast the death of a node, if it has to.
base::status core::can_survive(const region_description& about) const noexcept {
  if (!config_.survives) return {};
  const char* what = nullptr;
  if (about.consistency != QUIRE_SEQUENTIAL) what = "release consistency";
  if (about.detector == QUIRE_DETECT_USERFAULT_THREAD) what = "detector 'thread'";
  if (what == nullptr) return {};
  base::log(base::log_level::error, "a region with %s cannot go on when a node is lost: make it without, or set QUIRE_ON_FAILURE to end", what);
  return QUIRE_UNSUPPORTED;
}

/// Makes what a region needs for a consistency, unless it has it. 0 or errno.
int core::prepare(region_slot& r, quire_consistency consistency) {
  const region_description& about = r.about;
  const std::uint64_t units = about.bytes >> r.unit_shift;
  const bool relaxed = consistency == QUIRE_RELEASE;
  if (relaxed ? r.made.release != nullptr : r.made.sequential != nullptr) return 0;
  const bool first_touch = about.placement == QUIRE_PLACE_FIRST_TOUCH;
  const auto placement = first_touch ? model::placement::block : static_cast<model::placement>(about.placement);
  const auto managers = directory::manager_map::make(placement, config_.nodes, units, model::node_id{about.home});
  const auto put = [&](auto& shape) {
    shape.region = model::region_id{about.id};
    shape.self = config_.self;
    shape.nodes = model::geometry::of(config_.nodes);
    shape.managers = managers;
    shape.units = units;
  };
  if (relaxed) {
    int error = r.copies.make(units);
    if (error == 0) error = r.twins.make(about.bytes);
    if (error != 0) return error;
    release::region_shape shape;
    put(shape);
    shape.first_touch = first_touch;
    shape.scans = r.detector->scans();
    shape.migrates = config_.move_homes;
    shape.pages_out = config_.pages_out;  // any node, not only this one
    if (!config_.updates) shape.update = release::updates::never;
    if (shape.scans) scanning_ = true;
    shape.keeps = true;
    shape.twin_pages = static_cast<std::uint32_t>(about.unit_bytes / os::page_bytes);
    r.made.release = std::make_unique<release::machine>(shape, r.copies.data(), consistency_.open());
    return 0;
  }
  int error = r.units.make(units);
  if (error == 0) error = r.entries.make(units);
  if (error == 0 && config_.replicas) error = r.replicas.make(units);
  if (error != 0) return error;
  sequential::region_shape shape;
  put(shape);
  shape.learns = config_.learn_writes;
  if (config_.survives) shape.members = &survival_.members;
  if (config_.replicas) shape.replicas = {r.replicas.data(), &r.replica_book, &replicas_.rounds};
  r.made.sequential = std::make_unique<sequential::machine>(shape, r.units.data(), r.entries.data(), requests_, pins_);
  return 0;
}

void core::put_in_charge(region_slot& r, quire_consistency consistency) noexcept {
  const bool relaxed = consistency == QUIRE_RELEASE;
  if (relaxed) relaxed_ = true;
  r.sequential.set(relaxed ? nullptr : r.made.sequential.get());
  r.release.set(relaxed ? r.made.release.get() : nullptr);
  r.machine.set(relaxed ? static_cast<model::machine*>(r.made.release.get()) : r.made.sequential.get());
}

/// The detector that a region asks for, or the job's, or one that its pool can have; each kind is opened once.
base::result<detect::detector*> core::detector_for(std::uint8_t asked, const pool::settings& pool) {
  const std::lock_guard guard(regions_mutex_);
  const bool userfault = pool::takes_userfault(pool);
  auto which = asked == QUIRE_DETECT_DEFAULT ? config_.detector : static_cast<detect::kind>(asked - QUIRE_DETECT_USERFAULT);
  if (!userfault && which != detect::kind::segv) {
    if (asked != QUIRE_DETECT_DEFAULT) {
      base::log(base::log_level::error, "userfaultfd cannot watch pool '%s'; ask for detector 'segv'", pool::name_of(pool.which));
      return QUIRE_UNSUPPORTED;
    }
    which = detect::kind::segv;
  }
  if (which == config_.detector) return detectors_[0].get();
  auto& slot = detectors_[1 + static_cast<std::size_t>(which)];
  if (slot == nullptr) {
    auto opened = mechanisms_.open_detector(which);
    if (!opened.ok()) return opened.why();
    slot = std::move(opened.value());
    host_.watch_faults(*slot);
  }
  return slot.get();
}

sequential::counters core::protocol_counters() const noexcept {
  sequential::counters sum;
  regions_.for_each([&sum](const region_slot& r) {
    if (r.made.sequential == nullptr) return;
    const auto& c = r.made.sequential->count();
    sum.read_faults += c.read_faults;
    sum.write_faults += c.write_faults;
    sum.upgrade_faults += c.upgrade_faults;
    sum.local_faults += c.local_faults;
    sum.racing_faults += c.racing_faults;
    sum.competing_requests += c.competing_requests;
    sum.invalidations += c.invalidations;
    sum.read_ahead_units += c.read_ahead_units;
    sum.read_ahead_wasted += c.read_ahead_wasted;
    sum.atomics += c.atomics;
    sum.double_faults += c.double_faults;
    sum.exclusive_reads += c.exclusive_reads;
    sum.exclusive_wasted += c.exclusive_wasted;
    sum.pins += c.pins;
    sum.pin_waits += c.pin_waits;
    sum.copies_dropped += c.copies_dropped;
    sum.replicas_sent += c.replicas_sent;
    sum.replica_waits += c.replica_waits;
  });
  return sum;
}

}  // namespace quire::core
