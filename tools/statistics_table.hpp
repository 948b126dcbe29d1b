// The counters of a job for people: a row a counter, a column a node (up to eight), and the total.
#pragma once

#include <string>

#include "bootstrap/launcher/launcher.hpp"

namespace quire::tools {

[[nodiscard]] std::string statistics_table(const bootstrap::launcher::job_plan& plan,
                                           const bootstrap::launcher::job_outcome& outcome);

}  // namespace quire::tools
