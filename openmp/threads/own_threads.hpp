// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quire::openmp {

/// Threads of this node that the program has made itself, and that have not ended.
[[nodiscard]] int own_threads() noexcept;

}  // namespace quire::openmp
