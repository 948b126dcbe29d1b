// SPDX-License-Identifier: BSD-3-Clause
// What `quire run` says of a program that has run as many times as there are nodes, each for itself.
#pragma once

#include <optional>
#include <string>

namespace quire::tools {

/// A warning, for a job of which no node has joined: the program is the user's own, in ELF, and not linked with
/// libquire, or a script; or it is the system's, and makes threads. Nothing for what is run without Quire on purpose:
/// other programs of the system, shells and interpreters. `program`: the first word of the command.
[[nodiscard]] std::optional<std::string> copies_warning(const std::string& program, int nodes);

/// Installed with the system; /usr/local holds what somebody has built. The path is canonical.
[[nodiscard]] bool is_of_the_system(const std::string& path);
/// A program that runs others, wherever it is installed: python3.11 counts as python.
[[nodiscard]] bool is_interpreter(const std::string& path);

}  // namespace quire::tools
