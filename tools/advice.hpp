// SPDX-License-Identifier: BSD-3-Clause
// What the statistics of a job say about its speed, in sentences.
#pragma once

#include <string>
#include <vector>

#include "bootstrap/launcher/statistics.hpp"
#include "sharing/verdict.hpp"

namespace quire::tools {

/// The most important first; none if nothing stands out. `where`: of each of the statistics' units, the line that
/// allocated it, or empty. `stock`: of a program that knows nothing of Quire, and can call nothing of it.
[[nodiscard]] std::vector<std::string> advice(const bootstrap::launcher::job_statistics& all, int nodes, double seconds,
                                              const std::vector<std::string>& where, bool stock);

/// What to do about a unit that nodes share.
[[nodiscard]] std::string sharing_advice(const sharing::unit_use& unit, const sharing::verdict& of, bool stock);

/// "4 KiB", "2 MiB": a size that is a whole number of them; else with one decimal.
[[nodiscard]] std::string size_text(std::uint64_t bytes);
/// "1.25 s", "340 ms", "12 us".
[[nodiscard]] std::string time_text(std::uint64_t ns);

}  // namespace quire::tools
