// SPDX-License-Identifier: BSD-3-Clause
// The environment with which another process has begun: marks in it tell what a process has come from.
#pragma once

#include <sys/types.h>

#include <string>

namespace quire::os {

/// Each entry ends with a zero. Empty for a process that has ended, or is of another user. If its first thread has
/// ended, but not the process, another thread tells. One that becomes another program just now is waited for, a moment.
[[nodiscard]] std::string environment_of(pid_t pid);

}  // namespace quire::os
