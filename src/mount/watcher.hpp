// SPDX-License-Identifier: BSD-3-Clause
// Who takes a mount away when this process dies without a word: a shell that waits for the end of a pipe, which nobody
// but this process can write, and one that looks whether this process was killed and cannot end, as it waits for a file
// of its own mount. They are no children of this process, so that programs which wait for their children do not meet
// them. Used by session.cpp.
#pragma once

#include <string>

#include "base/status.hpp"
#include "os/process.hpp"

namespace quire::mount {

/// The pipe. When its last copy is closed, the mount at `directory` (canonical) goes, if it is dead; a line that is
/// written to it before ends the watch. QUIRE_SYSTEM with errno.
[[nodiscard]] base::result<os::descriptor> watch_own_death(const std::string& directory);

}  // namespace quire::mount
