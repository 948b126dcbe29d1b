// SPDX-License-Identifier: BSD-3-Clause
#include "core/counters.hpp"

#include "base/add_counts.hpp"
#include "core/known_machines.hpp"

namespace quire::core {

sequential::counters sequential_counters(const region_map& regions) noexcept {
  sequential::counters sum;
  regions.for_each([&sum](const region_slot& r) {
    if (const sequential::machine* const m = sequential_made(r); m != nullptr) base::add_counts(sum, m->count());
  });
  return sum;
}

release::counters release_counters(const region_map& regions) noexcept {
  release::counters sum;
  regions.for_each([&sum](const region_slot& r) {
    if (const release::machine* const m = release_made(r); m != nullptr) base::add_counts(sum, m->count());
  });
  return sum;
}

}  // namespace quire::core
