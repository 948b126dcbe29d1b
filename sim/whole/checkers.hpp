// SPDX-License-Identifier: BSD-3-Clause
// What must hold of whole nodes, whatever programs do. Each function says what is wrong in one line, or nothing.
#pragma once

#include <string>

#include "core/region_slot.hpp"
#include "sim/whole/node.hpp"

namespace quire::whole {

class world;

/// After each turn of a node: its machines' own invariants, and what threads may do is what they believe.
[[nodiscard]] std::string check_node(world& w, node& n, std::uint16_t region);
/// After each turn of any node: under sequential consistency a unit has one writer or many readers; of a transactional
/// one, one node that may commit.
[[nodiscard]] std::string check_views(world& w, std::uint16_t region);
/// When nothing happens any more: nothing waits, nothing is on its way, no transaction is left, and each unit under
/// release consistency has one home.
[[nodiscard]] std::string check_quiet(world& w);

}  // namespace quire::whole
