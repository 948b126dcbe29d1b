// SPDX-License-Identifier: BSD-3-Clause
// What another program says, line by line.
#pragma once

#include <string>
#include <vector>

namespace quire::tools {

/// For a shell.
[[nodiscard]] std::string quoted(const std::string& text);
/// As it is, where a shell takes it as it is.
[[nodiscard]] std::string plain_or_quoted(const std::string& word);
/// What a shell's command writes; nothing if there is no such command.
[[nodiscard]] std::vector<std::string> lines_of(const std::string& command);

}  // namespace quire::tools
