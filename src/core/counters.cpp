// SPDX-License-Identifier: BSD-3-Clause
#include "core/counters.hpp"

#include "base/add_counts.hpp"
#include "core/known_machines.hpp"

namespace quire::core {

void gone_counters::add(const region_slot& r) noexcept {
  if (const auto* const m = sequential_made(r); m != nullptr) base::add_counts(sequential, m->count());
  if (const auto* const m = release_made(r); m != nullptr) base::add_counts(release, m->count());
}

sequential::counters sequential_counters(const region_map& regions, const gone_counters& gone) noexcept {
  sequential::counters sum = gone.sequential;
  regions.for_each([&sum](const region_slot& r) {
    if (const sequential::machine* const m = sequential_made(r); m != nullptr) base::add_counts(sum, m->count());
  });
  return sum;
}

release::counters release_counters(const region_map& regions, const gone_counters& gone) noexcept {
  release::counters sum = gone.release;
  regions.for_each([&sum](const region_slot& r) {
    if (const release::machine* const m = release_made(r); m != nullptr) base::add_counts(sum, m->count());
  });
  return sum;
}

}  // namespace quire::core
