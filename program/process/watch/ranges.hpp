// SPDX-License-Identifier: BSD-3-Clause
// Memory of the program with release consistency, where updates would be lost: its regions, until they are made
// sequential (demotion.hpp).
#pragma once

#include <quire/quire.h>

#include <cstdint>

namespace quire::program::watch {

/// A region that was made with release consistency, the same on all nodes, in any order; before the program runs.
void note_release_region(quire_region region, std::uint64_t first, std::uint64_t bytes);
/// It has sequential consistency from now on.
void note_sequential(quire_region region) noexcept;

/// Whether an update at an address may be lost. Uses no vector registers and no thread-local variables: stubs call it.
[[nodiscard]] bool is_release(std::uint64_t address) noexcept;
/// Whether the caller is the first of this node that wants the region of such an address to be sequential.
[[nodiscard]] bool is_first_request(std::uint64_t address) noexcept;
/// The region of such an address; 0: none any more.
[[nodiscard]] quire_region release_region_of(std::uint64_t address) noexcept;

}  // namespace quire::program::watch
