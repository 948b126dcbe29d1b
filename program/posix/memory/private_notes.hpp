// SPDX-License-Identifier: BSD-3-Clause
// Private memory at addresses that the program has chosen: which node has it.
#pragma once

#include <cstdint>

namespace quire::program {

struct private_mapping {
  std::uint64_t first, bytes;
  int node;
};
/// Whether this node knows it, or has no room for it: what there is no room for is not explained.
[[nodiscard]] bool needs_no_note(const private_mapping& m) noexcept;
/// From now on this node does.
void keep_note(const private_mapping& m) noexcept;
/// The node whose mapping has an address, as far as this node knows; -1: none's. In any context.
[[nodiscard]] int node_of_note(std::uint64_t address) noexcept;

}  // namespace quire::program
