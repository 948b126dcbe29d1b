// SPDX-License-Identifier: BSD-3-Clause
// The running job that a command is about, by the pid of its `quire run`.
#pragma once

#include <optional>
#include <string>

#include "bootstrap/launcher/viewers.hpp"

namespace quire::tools {

/// The job of that number on this machine, for `quire COMMAND`; 0: the user's only one. Nothing, and a sentence.
[[nodiscard]] std::optional<bootstrap::launcher::found_job> find_running_job(int pid, const std::string& command,
                                                                             std::string& why);

}  // namespace quire::tools
