// SPDX-License-Identifier: BSD-3-Clause
// What the program's threads have set for signals by sigaction(2): all nodes know it.
#pragma once

#include <signal.h>

namespace quire::program {

/// A thread of this node has set it: other nodes follow when they need it.
void note_action(int number, const struct sigaction& now) noexcept;
/// What threads have set on any node holds on this one, too. Async-signal-safe.
void repeat_actions() noexcept;
/// The program has handlers, as far as this node knows.
[[nodiscard]] bool are_there_handlers() noexcept;

}  // namespace quire::program
