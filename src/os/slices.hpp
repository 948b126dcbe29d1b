// SPDX-License-Identifier: BSD-3-Clause
// The length of the slices in which the scheduler gives a thread its share of a core (EEVDF, Linux 6.12).
#pragma once

namespace quire::os {

/// The calling thread would rather have short slices, often: then it is let in before a thread that computes when it is
/// woken, and not at a tick some milliseconds later. Its share stays what it is. Only threads of the ordinary policy;
/// older kernels ignore the wish, or refuse it, and nothing is lost. Async-signal-safe.
void prefer_short_slices() noexcept;

}  // namespace quire::os
