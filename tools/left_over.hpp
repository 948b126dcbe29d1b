// SPDX-License-Identifier: BSD-3-Clause
// What jobs have left on this machine whose `quire run`, nodes and helpers were killed at once: finding it, and ending
// it. Nothing of a job that runs is touched: who finds a process here has looked whether its `quire run` lives, a mount
// whether it is served, a segment whether its maker lives and nobody is attached. Of this user; root: of all. Used by
// `quire clean` and `quire info`.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/options.hpp"
#include "os/mounts.hpp"
#include "os/segments.hpp"

namespace quire::tools {

struct left_process {
  pid_t pid = 0;
  pid_t launcher = 0;   ///< the `quire run`, or its agent, that is gone
  std::string mark;     ///< of that (os::own_mark)
  std::string command;  ///< fit for a terminal
  std::string mount;    ///< where its job was mounted; empty: nowhere
};

struct left_over {
  std::vector<left_process> processes;
  std::vector<os::mount_point> mounts;
  std::vector<os::left_segment> segments;
  std::vector<std::string> files;  ///< paths
  [[nodiscard]] bool empty() const noexcept {
    return processes.empty() && mounts.empty() && segments.empty() && files.empty();
  }
};

/// Files: in /dev/shm, where temporary files go, and where these options say.
[[nodiscard]] left_over find_left_over(const base::option_values& options);
/// Ends all of it: processes by SIGTERM, a second later by SIGKILL. Sentences about what could not be done.
[[nodiscard]] std::vector<std::string> end_left_over(const left_over& found);

/// For people, without the kind.
[[nodiscard]] std::string text_of(const left_process& one);
[[nodiscard]] std::string text_of(const os::mount_point& one);
[[nodiscard]] std::string text_of(const os::left_segment& one);

}  // namespace quire::tools
