// SPDX-License-Identifier: BSD-3-Clause
// The report on false sharing for people (`quire run --stats=sharing`): for each unit that several nodes use in turn
// which of them, which lines, what lies there, how often it came back and how long threads waited for it, and what to
// do.
#pragma once

#include <string>

#include "bootstrap/launcher/statistics.hpp"

namespace quire::tools {

[[nodiscard]] std::string sharing_report(const bootstrap::launcher::job_statistics& all, bool stock);

}  // namespace quire::tools
