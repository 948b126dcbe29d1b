// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace quire::program {

/// A node has mapped private memory at addresses that are no node's own, or are in use on all: the others know then
/// what an access to them means.
void note_private_mapping(std::uint64_t first, std::uint64_t bytes) noexcept;

}  // namespace quire::program
