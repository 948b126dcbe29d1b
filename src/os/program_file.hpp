// SPDX-License-Identifier: BSD-3-Clause
// What the file of a program tells before the program runs: which libraries it names, and where it has them looked for.
// Called by `quire` in application context.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace quire::os {

struct program_linkage {
  std::vector<std::string>
      needed;           ///< shared libraries that it names itself (DT_NEEDED); none if it is linked statically
  std::string rpath;    ///< folders with colons between them, searched before LD_LIBRARY_PATH (DT_RPATH)
  std::string runpath;  ///< searched after LD_LIBRARY_PATH; then the loader ignores rpath (DT_RUNPATH)
};

/// Of an executable of this machine in ELF. Nothing for other files (scripts, other machines', damaged ones) and for
/// those that cannot be read; files that are not regular are not opened.
[[nodiscard]] std::optional<program_linkage> linkage_of(const std::string& path);

}  // namespace quire::os
