// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quire::openmp {

/// OMP_DISPLAY_AFFINITY: the caller, which has begun a region, says on standard error where it is, if that is new.
void show_affinity() noexcept;

}  // namespace quire::openmp
