// SPDX-License-Identifier: BSD-3-Clause
// Which memory `quire run --memory auto` would take for a program, without running it.
#pragma once

#include <string>
#include <vector>

namespace quire::tools {

struct memory_fact {
  std::string word;  ///< "sequential" or "mixed"
  std::string text;  ///< "mixed, as ..."
};
[[nodiscard]] memory_fact memory_for(const std::string& path);

/// Paths of the libraries that the system's dynamic linker would load with a program; nothing of the program runs. False if it cannot tell.
[[nodiscard]] bool libraries_of(const std::string& path, std::vector<std::string>& into);

}  // namespace quire::tools
