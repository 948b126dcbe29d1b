// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quire::openmp {

/// What the program's threads have set for signals by sigaction(2) on any node holds on this one, too.
void repeat_actions() noexcept;

}  // namespace quire::openmp
