// SPDX-License-Identifier: BSD-3-Clause
// What threads may do with units, said to the detector: a run of units is one call, or one for each view that shows
// some of them. All of the core that changes what is mapped comes by here. Driver's thread, fault context.
#pragma once

#include <cstdint>

#include "core/region_slot.hpp"

namespace quire::core::mapping {

/// Raises what threads may do with units from `from` to `to`. 0, EFAULT without a frame, or another errno; the same
/// call again does what is left.
[[nodiscard]] int permit(region_slot& r, std::uint64_t first, std::uint64_t count, model::access from,
                         model::access to) noexcept;
/// Lowers it, whichever way threads see the units. 0 or errno.
[[nodiscard]] int protect(region_slot& r, std::uint64_t first, std::uint64_t count, model::access from,
                          model::access to) noexcept;
/// A thread faults at a place that may be mapped as far as the core knows: the kernel has unmapped it, or it has been
/// left for later. 0 or errno.
[[nodiscard]] int map_again(region_slot& r, std::uint64_t unit, model::access level) noexcept;
/// Maps a page of the natural view, all units of which permit `level`. 0 or errno.
[[nodiscard]] int compose(region_slot& r, std::uint64_t page, model::access level) noexcept;
/// Pages of a region without fine views: threads may not access them from now on, until they are opened in
/// region_slot::closed. Their next faults map them again then. 0 or errno.
[[nodiscard]] int close(region_slot& r, std::uint64_t offset, std::uint64_t bytes) noexcept;
/// Of a region with the dynamic layout of minipages: minipages::divide(). False: see there.
[[nodiscard]] bool divide(region_slot& r, std::uint64_t first_page, std::uint64_t pages, std::uint64_t bytes) noexcept;
/// Threads that the kernel holds at these units try again.
void wake(region_slot& r, std::uint64_t first, std::uint64_t count) noexcept;

}  // namespace quire::core::mapping
