// SPDX-License-Identifier: BSD-3-Clause
// What nodes have left in a directory (QUIRE_EVENTS), checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "predict/replay.hpp"

namespace quire::tools::predict {

/// Of all nodes of a job. Nothing, and a sentence in `why`.
[[nodiscard]] std::optional<std::vector<node_events>> read_events(const std::string& directory, std::string& why);

}  // namespace quire::tools::predict
