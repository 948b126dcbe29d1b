// SPDX-License-Identifier: BSD-3-Clause
// This node leaves a job that goes on without it: quire_leave() up to the moment at which nobody needs it any more.
#pragma once

#include "base/status.hpp"

namespace quire::api {

struct runtime;

/// Application thread. Unless it is QUIRE_OK the node is a node as before; why not is explained.
[[nodiscard]] quire_status leave_others(runtime& r);

}  // namespace quire::api
