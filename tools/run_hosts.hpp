// SPDX-License-Identifier: BSD-3-Clause
// `quire run --hosts`: which hosts, and who starts the nodes there. Used by run.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bootstrap/launcher/launcher.hpp"

namespace quire::tools {

/// What the command line says of hosts.
struct host_arguments {
  std::string hosts, host_file, agent, launcher;  ///< empty: not given
};

/// Puts the hosts into the plan; `nodes` is how many were asked for. False with a sentence in `why`.
[[nodiscard]] bool hosts_into(const host_arguments& asked, std::optional<int> nodes,
                              bootstrap::launcher::job_plan& plan, std::string& why);

/// Hands the job to an installed launcher, if one was asked for (--launcher): then this process becomes it. Returns
/// when Quire's own starter shall do it; false with a sentence in `why` when what was asked for cannot be had.
/// `own_only`: what the user wants that only the own starter can do.
[[nodiscard]] bool hand_over(const host_arguments& asked, const char* own_only,
                             const bootstrap::launcher::job_plan& plan, std::string& why);

}  // namespace quire::tools
