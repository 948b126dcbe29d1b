// SPDX-License-Identifier: BSD-3-Clause
// Who may connect. UCX trusts everybody that reaches its TCP port: a wrong length in the first message ends the process
// (1.13: an assertion). So no stranger gets as far: UCX's own calls of listen, accept and connect come here. Whoever
// connects first says 32 bytes that only a process of the job can know, and they are checked before UCX hears of the
// connection; others are closed and counted.
//
// Any thread of UCX's (its own, or the driver in its fault context): no heap, no lock of ours. Connecting waits for the
// other end's kernel, not for its process, and at most 30 seconds. What is said: a number never used before, and a hash
// of it and of the listener's address and port under the job's secret. So who has listened cannot say it again: the
// same number is refused. Nothing that follows is encrypted.
#pragma once

#include <cstdint>

#include "base/siphash.hpp"
#include "base/status.hpp"

namespace quire::transport::ucx::gate {

/// Puts the gate into UCX, which has been loaded; from now on all connections are of the job with this secret.
/// QUIRE_UNSUPPORTED if this build of UCX cannot be guarded, QUIRE_SYSTEM without memory. Before UCX opens anything.
[[nodiscard]] base::status guard(const base::secret& job) noexcept;

/// Connections that were closed because they did not belong to the job. Any thread.
[[nodiscard]] std::uint64_t refused() noexcept;

}  // namespace quire::transport::ucx::gate
