// SPDX-License-Identifier: BSD-3-Clause
// The executable's thread-local (threadprivate) variables: each thread's lie in shared memory, so that other threads may follow pointers to them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire::openmp {

/// Collective, once, before the program's code runs: those of node 0's main thread are shared. Other nodes' main threads run none of it from now on.
void open_thread_data();
/// Whether the program has such variables, and there are other nodes. Else threads need no places.
[[nodiscard]] bool has_thread_data() noexcept;

/// Whether there are places for a team of so many threads, or none are needed.
[[nodiscard]] bool has_places(int threads) noexcept;
/// Collective: each node has places for its threads of a team of so many, and for its lead thread.
void make_places(int threads);
/// Starts a thread of this node at its place: 0 is the lead's, behind it workers' (no such place: anywhere). Ends the node if it cannot.
void start_thread_at(std::size_t place, void* (*body)(void*), void* argument, bool detached) noexcept;
/// The node that has a place at an address; -1: none. In any context.
[[nodiscard]] int node_of_place(std::uint64_t address) noexcept;
/// Waits for the end of the lead, which was not detached.
void wait_for_lead() noexcept;

}  // namespace quire::openmp
