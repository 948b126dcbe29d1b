// SPDX-License-Identifier: BSD-3-Clause
// Words of a region's data to which all threads add (sites/sums.hpp): gcc's reductions. Nodes other than node 0 add to
// copies that came with the region's beginning; at its end one collective brings what they have added to node 0. The
// master's page stays where it is.
#pragma once

#include <cstddef>

#include "program/omp/team/team.hpp"
#include "program/sites/sums.hpp"

namespace quire::program {

/// Behind the first `read` bytes. False if there is no room.
[[nodiscard]] bool put_sums(const sites::summed_words& sums, std::size_t read, carried_data& into) noexcept;
[[nodiscard]] sites::summed_words sums_of(const carried_data& carried, std::size_t count) noexcept;
/// Nothing has been added to a copy yet.
void begin_sums(const sites::summed_words& sums, std::byte* copy) noexcept;
/// Collective, when no thread of this node adds any more: the words of node 0's data get what all others have added. On
/// node 0 it returns when they have; the others see their node's part, as before.
void add_up(const sites::summed_words& sums, std::byte* data) noexcept;

/// GOMP_atomic_start(), which goes on at `at`: where its caller adds to such words, and does nothing else, threads of
/// this node add one after the other; else those of the job.
void lock_atomics(const void* at) noexcept;
void unlock_atomics() noexcept;

}  // namespace quire::program
