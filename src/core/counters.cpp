// SPDX-License-Identifier: BSD-3-Clause
#include "core/counters.hpp"

#include "core/known_machines.hpp"

namespace quire::core {

namespace {

void add(sequential::counters& sum, const sequential::counters& c) noexcept {
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
}

void add(release::counters& sum, const release::counters& c) noexcept {
  sum.read_faults += c.read_faults;
  sum.write_faults += c.write_faults;
  sum.local_faults += c.local_faults;
  sum.racing_faults += c.racing_faults;
  sum.twins += c.twins;
  sum.invalidations += c.invalidations;
  sum.stale_replies += c.stale_replies;
  sum.home_moves += c.home_moves;
  sum.forwarded += c.forwarded;
  sum.read_ahead_units += c.read_ahead_units;
  sum.read_ahead_wasted += c.read_ahead_wasted;
  sum.atomics += c.atomics;
  sum.copies_dropped += c.copies_dropped;
  sum.updates_sent += c.updates_sent;
  sum.updates_applied += c.updates_applied;
  sum.kept += c.kept;
  sum.pins += c.pins;
  sum.pin_waits += c.pin_waits;
}

}  // namespace

void gone_counters::add(const region_slot& r) noexcept {
  if (const auto* const m = sequential_made(r); m != nullptr) quire::core::add(sequential, m->count());
  if (const auto* const m = release_made(r); m != nullptr) quire::core::add(release, m->count());
}

sequential::counters sequential_counters(const region_map& regions, const gone_counters& gone) noexcept {
  sequential::counters sum = gone.sequential;
  regions.for_each([&sum](const region_slot& r) {
    if (const auto* const m = sequential_made(r); m != nullptr) add(sum, m->count());
  });
  return sum;
}

release::counters release_counters(const region_map& regions, const gone_counters& gone) noexcept {
  release::counters sum = gone.release;
  regions.for_each([&sum](const region_slot& r) {
    if (const auto* const m = release_made(r); m != nullptr) add(sum, m->count());
  });
  return sum;
}

}  // namespace quire::core
