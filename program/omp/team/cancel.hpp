// SPDX-License-Identifier: BSD-3-Clause
// Cancellation, where OMP_CANCELLATION is true.
#pragma once

namespace quire::program {

/// The caller's; several may be asked for at a time.
enum construct : int { a_region = 1, a_loop = 2, some_sections = 4, a_taskgroup = 8 };
[[nodiscard]] bool is_cancelled(int which) noexcept;
/// Whether the caller is to leave it; never where OMP_CANCELLATION is not true.
[[nodiscard]] bool cancel(int which) noexcept;
/// A barrier; whether the caller is to leave its region, which is cancelled. The barrier's end takes back that a loop
/// is.
[[nodiscard]] bool barrier_and_look() noexcept;

}  // namespace quire::program
