// SPDX-License-Identifier: BSD-3-Clause
// Why a call on a synchronisation object cannot be done, in a sentence (base/detail.hpp). The machines answer with a
// status alone, as that travels; what a status means for a call follows from the call.
#pragma once

#include "sync/call.hpp"

namespace quire::api {

/// Gives `why` back. `nodes` of the job; `makers`: nodes that may have made objects.
quire_status explain(const sync::call& c, quire_status why, unsigned nodes, unsigned makers) noexcept;

}  // namespace quire::api
