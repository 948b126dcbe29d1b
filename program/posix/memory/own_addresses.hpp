// SPDX-License-Identifier: BSD-3-Clause
// Each node's own span of addresses for what is private.
#pragma once

#include <cstdint>

namespace quire::program {

/// Collective: what libc and the system give a node from now on, and no other node may use, lies at addresses of this
/// node's own. An access of another node ends that with a line, and finds no other memory there. Where the system
/// refuses it, nothing is changed.
void separate_private_memory();
/// The node whose private memory an address lies in; -1: none's.
[[nodiscard]] int node_of_private(std::uint64_t address) noexcept;
/// Whether private memory of this node there has an address that no other node's has, as far as that can be.
[[nodiscard]] bool is_told_apart(std::uint64_t address) noexcept;

}  // namespace quire::program
