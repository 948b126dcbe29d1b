// SPDX-License-Identifier: BSD-3-Clause
// PMIx as a library that is loaded when a launcher that speaks it has started this process, and only then: a program
// without such a launcher pays nothing for it, and Quire runs where it is not installed. Used by member.cpp only.
#pragma once

#include <pmix.h>

#include "base/status.hpp"

namespace quire::bootstrap::pmix {

/// One entry for each function of PMIx that Quire calls. X(name) stands for PMIx_name.
#define QUIRE_PMIX_FUNCTIONS(X) \
  X(Init) X(Finalize) X(Put) X(Commit) X(Fence_nb) X(Get) X(Register_event_handler) X(Error_string) X(Abort)

struct library {
#define QUIRE_PMIX_MEMBER(name) decltype(&::PMIx_##name) name = nullptr;
  QUIRE_PMIX_FUNCTIONS(QUIRE_PMIX_MEMBER)
#undef QUIRE_PMIX_MEMBER
};

/// Loads PMIx at the first call; it stays loaded. QUIRE_UNSUPPORTED if it is not there or lacks something; the reason
/// is logged. Not for fault context.
[[nodiscard]] base::result<const library*> load() noexcept;

}  // namespace quire::bootstrap::pmix
