// SPDX-License-Identifier: BSD-3-Clause
#include "core/region_builder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.hpp"
#include "core/core.hpp"

namespace quire::core {

base::status region_builder::open() {
  split_ = core_.config.pool.which == pool::kind::fork;
  auto detector = mechanisms_.open_detector(core_.config.detector);
  if (!detector.ok()) return detector.why();
  detectors_[0] = std::move(detector.value());
  return {};
}

base::status region_builder::add(const region_description& about) {
  auto r = std::make_unique<region_slot>();
  r->about = about;
  r->unit_shift = static_cast<unsigned>(__builtin_ctz(about.unit_bytes));
  if (core_.frames.limited() && about.unit_bytes > core_.frames.limit() / 16) {
    base::log(base::log_level::error, "a unit of %u KiB is more than a sixteenth of QUIRE_MEMORY_LIMIT: threads could not use several at a "
              "time; make units smaller, or the limit larger", about.unit_bytes >> 10);
    return QUIRE_INVALID;
  }
  if (const auto why = can_survive(about); !why.ok()) return why;
  pool::settings pool = core_.config.pool;
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
  int error = core_.frames.limited() ? r->frames.make(about.bytes >> r->unit_shift) : 0;
  if (error == 0) error = prepare(*r, consistency);
  if (error == 0) error = r->detector->attach(r->memory->application_view(), about.bytes);
  if (error != 0) {
    base::log(base::log_level::error, "cannot prepare a region of %lu MiB: %s (%s)",
              static_cast<unsigned long>(about.bytes >> 20), std::strerror(error), r->detector->name());
    return QUIRE_SYSTEM;
  }
  put_in_charge(*r, consistency);
  r->change.frozen = core_.survival.recovery().active();
  core_.regions.publish(std::move(r));
  return {};
}

/// Whether the region can outlast the death of a node, if it has to.
base::status region_builder::can_survive(const region_description& about) const noexcept {
  if (!core_.config.survives) return {};
  const char* what = nullptr;
  if (about.consistency != QUIRE_SEQUENTIAL) what = "release consistency";
  if (about.detector == QUIRE_DETECT_USERFAULT_THREAD) what = "detector 'thread'";
  if (what == nullptr) return {};
  base::log(base::log_level::error, "a region with %s cannot go on when a node is lost: make it without, or set QUIRE_ON_FAILURE to end", what);
  return QUIRE_UNSUPPORTED;
}

int region_builder::prepare(region_slot& r, quire_consistency consistency) {
  const region_description& about = r.about;
  const std::uint64_t units = about.bytes >> r.unit_shift;
  const bool relaxed = consistency == QUIRE_RELEASE;
  if (relaxed ? r.made.release != nullptr : r.made.sequential != nullptr) return 0;
  const bool first_touch = about.placement == QUIRE_PLACE_FIRST_TOUCH;
  const auto placement = first_touch ? model::placement::block : static_cast<model::placement>(about.placement);
  const auto managers = directory::manager_map::make(placement, core_.config.nodes, units, model::node_id{about.home});
  const auto put = [&](auto& shape) {
    shape.region = model::region_id{about.id};
    shape.self = core_.config.self;
    shape.nodes = model::geometry::of(core_.config.nodes);
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
    shape.migrates = core_.config.move_homes;
    shape.pages_out = core_.config.pages_out;  // any node, not only this one
    if (!core_.config.updates) shape.update = release::updates::never;
    if (shape.scans) scanning_ = true;
    shape.keeps = true;
    shape.twin_pages = static_cast<std::uint32_t>(about.unit_bytes / os::page_bytes);
    r.made.release = std::make_unique<release::machine>(shape, r.copies.data(), core_.consistency.open());
    return 0;
  }
  int error = r.units.make(units);
  if (error == 0) error = r.entries.make(units);
  if (error == 0 && core_.config.replicas) error = r.replicas.make(units);
  if (error != 0) return error;
  sequential::region_shape shape;
  put(shape);
  shape.learns = core_.config.learn_writes;
  if (core_.config.survives) shape.members = &core_.survival.members();
  if (core_.config.replicas) shape.replicas = {r.replicas.data(), &r.replica_book, &core_.replicas.traffic.rounds};
  r.made.sequential = std::make_unique<sequential::machine>(shape, r.units.data(), r.entries.data(), requests_, core_.pinned);
  return 0;
}

void region_builder::put_in_charge(region_slot& r, quire_consistency consistency) noexcept {
  const bool relaxed = consistency == QUIRE_RELEASE;
  if (relaxed) core_.relaxes = true;
  r.sequential.set(relaxed ? nullptr : r.made.sequential.get());
  r.release.set(relaxed ? r.made.release.get() : nullptr);
  r.machine.set(relaxed ? static_cast<model::machine*>(r.made.release.get()) : r.made.sequential.get());
}

/// The detector that a region asks for, or the job's, or one that its pool can have; each kind is opened once.
base::result<detect::detector*> region_builder::detector_for(std::uint8_t asked, const pool::settings& pool) {
  const std::lock_guard guard(regions_mutex_);
  const bool userfault = pool::takes_userfault(pool);
  auto which = asked == QUIRE_DETECT_DEFAULT ? core_.config.detector : static_cast<detect::kind>(asked - QUIRE_DETECT_USERFAULT);
  if (!userfault && which != detect::kind::segv) {
    if (asked != QUIRE_DETECT_DEFAULT) {
      base::log(base::log_level::error, "userfaultfd cannot watch pool '%s'; ask for detector 'segv'", pool::name_of(pool.which));
      return QUIRE_UNSUPPORTED;
    }
    which = detect::kind::segv;
  }
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
