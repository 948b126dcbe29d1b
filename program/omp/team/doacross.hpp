// SPDX-License-Identifier: BSD-3-Clause
// Loops whose iterations wait for others: ordered(n), depend(source), depend(sink: ...).
#pragma once

#include <cstdint>

namespace quire::program {

constexpr unsigned most_doacross_levels = 31;

/// The caller begins such a loop, with so many iterations on each of its levels.
void begin_doacross(unsigned levels, const std::uint64_t* counts) noexcept;
/// It has a part now; and: it takes another one, or leaves. What it had is done then, whether it said so or not.
void begin_doacross_part() noexcept;
void end_doacross_part() noexcept;
/// The iteration is done.
void post_iteration(const std::uint64_t* at) noexcept;
/// Until another one is done.
void wait_for_iteration(const std::uint64_t* at) noexcept;
[[nodiscard]] unsigned levels_of_loop() noexcept;

}  // namespace quire::program
