// SPDX-License-Identifier: BSD-3-Clause
// What an access outside of all memory means, where this front-end knows it.
#pragma once

#include <cstdint>

namespace quire::openmp {

/// Before the job starts: SIGSEGV and SIGBUS that nobody else handles come here. A handler of the program's own takes
/// its place.
void explain_crashes() noexcept;
/// From now on a thread that finds no shared memory any more sleeps, and ends with the process: all but the caller.
void stop_others_at_faults() noexcept;

/// Collective: what libc and the system give a node from now on, and no other node may use, lies at addresses of this
/// node's own. An access of another node ends that with a line, and finds no other memory there. Where the system
/// refuses it, nothing is changed.
void separate_private_memory();
/// A node has mapped private memory at addresses that are no node's own, or are in use on all: the others know then
/// what an access to them means.
void note_private_mapping(std::uint64_t first, std::uint64_t bytes) noexcept;
/// The node whose private memory an address lies in; -1: none's.
[[nodiscard]] int node_of_private(std::uint64_t address) noexcept;
/// Whether private memory of this node there has an address that no other node's has, as far as that can be.
[[nodiscard]] bool is_told_apart(std::uint64_t address) noexcept;
/// The same for what note_private_mapping() has been told. In any context.
[[nodiscard]] int node_of_note(std::uint64_t address) noexcept;

}  // namespace quire::openmp
