// SPDX-License-Identifier: BSD-3-Clause
// How a node splits: the fork.
#pragma once

#include <memory>

#include "base/status.hpp"
#include "split/application_side.hpp"
#include "split/engine_side.hpp"
#include "split/link.hpp"

namespace quire::split {

/// What this process is afterwards: one of the two is set.
struct sides {
  std::unique_ptr<application_side> application;
  std::unique_ptr<engine_side> engine;
};

/// Maps the shared range, and splits this process. Returns in both. The engine's process is no child that wait() of the
/// application would ever see. Only the calling thread goes on in the engine's process. QUIRE_NO_ADDRESSES,
/// QUIRE_SYSTEM, QUIRE_NO_MEMORY; the reason is logged.
[[nodiscard]] base::result<sides> begin(std::uint64_t base, std::uint64_t bytes, way link);

}  // namespace quire::split
