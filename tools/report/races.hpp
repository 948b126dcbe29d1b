// SPDX-License-Identifier: BSD-3-Clause
// What the nodes of a job have recorded of their intervals (QUIRE_CHECK=races), checked and told (`quire run --check`,
// `quire report --check`).
#pragma once

#include <string>

namespace quire::tools::report {

enum class checked { clean, found, failed };

inline constexpr int races_found = 66;  ///< exit status of the commands, as of sanitizers

/// Reads the records in `directory`, and writes what was found, line by line, to `text`; `failed`: a sentence in it.
/// Runs addr2line and nm (binutils) where they are installed.
[[nodiscard]] checked check_races(const std::string& directory, std::string& text);
/// The same on standard error, as lines of a command.
[[nodiscard]] checked tell_races(const std::string& directory, const char* command);

}  // namespace quire::tools::report
