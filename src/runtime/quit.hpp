// SPDX-License-Identifier: BSD-3-Clause
// SIGQUIT to a node: it says what its threads wait for, and goes on (docs/quire.7, WAITS). Start and end, by one
// application thread.
#pragma once

namespace quire::api {

/// Installs the handler, unless the program has one of its own. Where the signal is ignored it is installed, too:
/// shells start programs in the background so.
void install_quit() noexcept;
/// Puts back what was there before, unless the program has put another in its place.
void remove_quit() noexcept;
/// Whether a handler of SIGQUIT is this one, which touches no shared memory. Any thread.
[[nodiscard]] bool is_quit_handler(const void* handler) noexcept;

}  // namespace quire::api
