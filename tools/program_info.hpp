// SPDX-License-Identifier: BSD-3-Clause
// `quire info PROGRAM`.
#pragma once

#include <string>

namespace quire::tools {

/// Prints how a program is linked, what it needs of OpenMP, and how `quire run` would start it; gives the exit status:
/// 0, 126 or 127 if it cannot be read or found.
int program_info(const std::string& program, bool as_json);

}  // namespace quire::tools
