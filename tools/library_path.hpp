// SPDX-License-Identifier: BSD-3-Clause
// Which libquire, and which Python package, a program of `quire run` gets: the one that it chooses itself, else the one
// beside the command.
#pragma once

#include <optional>
#include <string>

namespace quire::tools {

/// A value of LD_LIBRARY_PATH by which the loader finds, for this program, the library beside this command. Nothing if
/// the program chooses one itself, by its rpath or by the LD_LIBRARY_PATH of the environment; if it names no libquire;
/// or if none of that name lies beside the command. `program`: the first word of a command, as execvp() takes it.
[[nodiscard]] std::optional<std::string> library_path_for(const std::string& program);

/// A value of PYTHONPATH by which a Python interpreter, or a script for one, finds the package beside this command,
/// behind what is set. Nothing if the program is neither, or there is no package, or it is on the path.
[[nodiscard]] std::optional<std::string> python_path_for(const std::string& program);

}  // namespace quire::tools
