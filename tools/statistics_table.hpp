// SPDX-License-Identifier: BSD-3-Clause
// The statistics of a job for people: counters that are not zero, a column a node (up to eight) and the total; regions
// and units that threads have waited for most, with the line that allocated them; and advice.
#pragma once

#include <string>

#include "bootstrap/launcher/launcher.hpp"

namespace quire::tools {

[[nodiscard]] std::string statistics_table(const bootstrap::launcher::job_plan& plan,
                                           const bootstrap::launcher::job_outcome& outcome, bool stock);

}  // namespace quire::tools
