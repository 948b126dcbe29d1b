// SPDX-License-Identifier: BSD-3-Clause
// What the user has set, and `--auto` of `quire run` and `quire predict` leaves alone.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace quire::tools {

/// Names of settings that the advisor may not touch: of --memory and --place (empty: not given), of --set, of the
/// environment, and of what stands behind `quire exec` in `words`, program and arguments.
[[nodiscard]] std::vector<std::string> closed_options(const std::string& memory, const std::string& place,
                                                      std::span<const std::string> settings,
                                                      const std::vector<std::string>& words);

}  // namespace quire::tools
