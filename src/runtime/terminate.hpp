// SPDX-License-Identifier: BSD-3-Clause
// The handler of std::terminate() while the job runs: an uncaught exception is told in one line with its node. Start
// and end, by one application thread.
#pragma once

namespace quire::api {

/// Installs the handler, unless the program has one of its own.
void install_terminate() noexcept;
/// Puts back what was there before, unless the program has put another in its place.
void remove_terminate() noexcept;

}  // namespace quire::api
