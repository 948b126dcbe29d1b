// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quire::openmp {

/// What the program's threads have set for signals by sigaction(2) on any node holds on this one, too.
void repeat_actions() noexcept;
/// Before a handler of the program may come, on one of its threads: it may call for other nodes.
void prepare_for_handlers() noexcept;

}  // namespace quire::openmp
