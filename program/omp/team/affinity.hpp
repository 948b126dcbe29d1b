// SPDX-License-Identifier: BSD-3-Clause
// What threads say of where they are: OMP_DISPLAY_AFFINITY, and the calls about it.
#pragma once

#include <cstddef>

namespace quire::program {

/// From now on, on all nodes.
void set_affinity_format(const char* format) noexcept;
/// As much of it as there is room for, with a zero; its whole length.
[[nodiscard]] std::size_t read_affinity_format(char* to, std::size_t room) noexcept;
/// The caller's, by a format; null or empty: by the one that is set. As above.
std::size_t describe_affinity(char* to, std::size_t room, const char* format) noexcept;
/// The same as a line on standard error.
void display_affinity(const char* format) noexcept;
/// OMP_DISPLAY_AFFINITY: the caller, which has begun a region, says so, if it is new.
void show_affinity() noexcept;

}  // namespace quire::program
