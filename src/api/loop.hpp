// SPDX-License-Identifier: BSD-3-Clause
// The loop of registered transactions, and checkpoints.
#pragma once

#include <quire/quire.h>

namespace quire::api {

/// The job has gone on from a checkpoint: tasks of nodes that it has not are any node's, and no loop is to stop. One
/// thread of one node, when all content is there.
[[nodiscard]] quire_status go_on_with_tasks();

}  // namespace quire::api
