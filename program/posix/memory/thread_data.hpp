// SPDX-License-Identifier: BSD-3-Clause
// The executable's thread-local (threadprivate) variables: each thread's lie in shared memory, so that other threads
// may follow pointers to them.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace quire::program {

constexpr std::size_t most_places = 4096;  ///< of a node

/// Collective, once, before the program's code runs: those of node 0's main thread are shared. Other nodes' main
/// threads run none of it from now on. `always`: threads have places where there are no such variables, too.
void open_thread_data(bool always);
/// Whether the program has such variables, and there are other nodes. Else threads need no places.
[[nodiscard]] bool has_thread_data() noexcept;

/// Whether there are places for a team of so many threads, or none are needed.
[[nodiscard]] bool has_places(int threads) noexcept;
/// Collective: each node has places for its threads of a team of so many, and for its lead thread.
void make_places(int threads);
/// Where a thread with a place of this node is to have its stack, and its descriptor will be; false: there is no such
/// place.
struct own_place {
  std::uint64_t first, bytes, descriptor;
};
[[nodiscard]] bool find_place_here(std::size_t place, own_place& found) noexcept;

/// Threads that the program makes itself, where these are on all nodes (posix/threads/records.hpp): each has a place of
/// its node, from 1 on. How many there are up to now on this node.
[[nodiscard]] std::size_t places_here() noexcept;
/// One more, where no variables are shared: else a collective call makes places. False: a node has no more.
[[nodiscard]] bool add_place_here() noexcept;
/// Starts a thread at a place of this node, with what `about` says but for its stack. 0 or why not.
[[nodiscard]] int create_at_place(std::size_t place, pthread_attr_t& about, void* (*body)(void*), void* argument,
                                  pthread_t& thread) noexcept;
/// The pthread_t of the thread at a place of this node.
[[nodiscard]] pthread_t handle_of_place(std::size_t place) noexcept;
/// The node and the place of a thread; -1: it has none.
[[nodiscard]] int node_of_handle(pthread_t thread, std::size_t& place) noexcept;

/// The node that has a place at an address; -1: none. In any context.
[[nodiscard]] int node_of_place(std::uint64_t address) noexcept;

}  // namespace quire::program
