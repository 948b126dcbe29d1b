// SPDX-License-Identifier: BSD-3-Clause
// The program's static data on all nodes.
#pragma once

#include <quire/quire.h>

#include "program/process/modules.hpp"

namespace quire::program {

/// Collective: ends the node that has other modules than node 0, or has them elsewhere.
void compare_modules();
/// Collective: the static data of the program and of its own libraries, but for what is read-only after relocation, is
/// shared from now on, as node 0 has it.
void share_static_data();
/// The static data of a library that all nodes have loaded, and nobody uses yet, as this node has it. One thread of one
/// node.
[[nodiscard]] quire_status share_static_data_of(const module& m) noexcept;
/// On every node: it is shared from now on, or not any more.
void note_static_data_of(const module& m) noexcept;
void forget_static_data_of(const module& m) noexcept;
/// Not shared any more, and not there on any node. One thread of one node.
[[nodiscard]] quire_status take_static_data_away(const module& m) noexcept;
/// Whether an address lies in static data that is shared. In any context.
[[nodiscard]] bool in_static_data(const void* at) noexcept;
/// Not any more: the job ends.
void close_static_data() noexcept;
/// What was set to start the program with this library, and is none of its business: children shall not have it.
void restore_environment();

}  // namespace quire::program
