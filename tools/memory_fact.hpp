// SPDX-License-Identifier: BSD-3-Clause
// Which memory `quire run --memory auto` would take for a program, without running it.
#pragma once

#include <string>

namespace quire::tools {

struct memory_fact {
  std::string word;  ///< "sequential" or "mixed"
  std::string text;  ///< "mixed, as ..."
};
[[nodiscard]] memory_fact memory_for(const std::string& path);

}  // namespace quire::tools
