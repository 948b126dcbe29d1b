// SPDX-License-Identifier: BSD-3-Clause
// What `quire exec` changes in the environment of a program. `quire run` does it for nodes of this machine itself,
// where nothing else is to be changed: a node is then the program at once.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "exec_plan.hpp"

namespace quire::tools {

using exec_settings = std::vector<std::pair<std::string, std::string>>;

/// `place` of --place; empty: the usual one. `stack_before`: the soft limit of the stack, in bytes, or "unlimited"; the
/// limit itself is the program's already. `more_folders`: of libraries, after those of LD_LIBRARY_PATH.
[[nodiscard]] exec_settings settings_for(const exec_plan& plan, const std::string& stack_before,
                                         const std::string& memory, const std::string& place,
                                         const std::string& more_folders);

/// The same where a process that this one starts can become the program without `quire exec`: nothing is left of an
/// earlier one, the stack has its standard size, and addresses can be fixed. Else nothing.
[[nodiscard]] exec_settings settings_at_once(const exec_plan& plan, const std::string& memory,
                                             const std::string& place);

}  // namespace quire::tools
