// SPDX-License-Identifier: BSD-3-Clause
// Times are nanoseconds. Where there is no clock (core, machines), limits and periods are spelled with these.
#pragma once

#include <cstdint>

namespace quire::base {

inline constexpr std::uint64_t ms = 1'000'000, second = 1000 * ms;

}  // namespace quire::base
