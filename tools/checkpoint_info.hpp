// SPDX-License-Identifier: BSD-3-Clause
// What `quire info --checkpoint` does (checkpoint_info.cpp).
#pragma once

#include <string>

namespace quire::tools {

/// Gives the exit status.
int checkpoint_info(const std::string& path, bool as_json);

}  // namespace quire::tools
