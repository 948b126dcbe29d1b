// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints that a running job writes, and jobs that go on from them: what nodes do in the order of
// services/checkpoint_call.hpp. One thread of each node, within a core::job_call.
#pragma once

#include <quire/quire.h>

#include "checkpoint/meeting/agreement.hpp"
#include "runtime/runtime.hpp"

namespace quire::api {

[[nodiscard]] quire_status save(runtime& r, const checkpoint_path& path);
/// `go_on`: what node 0 does when all content is there. Comes before anything else that makes memory or objects.
[[nodiscard]] quire_status restore(runtime& r, const checkpoint_path& path, quire_status (*go_on)());

}  // namespace quire::api
