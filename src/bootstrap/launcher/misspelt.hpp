// SPDX-License-Identifier: BSD-3-Clause
// Why a program cannot be run, and which one was probably meant. Called where the start of a node has failed: by `quire
// run` and by its agents.
#pragma once

#include <string>

namespace quire::bootstrap::launcher {

/// "cannot run ./haet: No such file or directory; did you mean ./heat?" `error` is what execvp() gave for `program`;
/// the working directory must be that of the nodes. Proposed are executable files of the folder that was named, or for
/// a name without a folder those of the working directory and of PATH.
[[nodiscard]] std::string cannot_run_text(const std::string& program, int error);

}  // namespace quire::bootstrap::launcher
