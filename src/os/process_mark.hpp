// SPDX-License-Identifier: BSD-3-Clause
// Names of processes that outlive them: a pid alone may be another process's by now, or be counted by another kernel.
// `quire run` gives its own to the nodes, so that one can tell afterwards whether it is still there.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace quire::os {

/// Text for this process: no other one, of whatever machine, container or time, has the same.
[[nodiscard]] std::string own_mark();

struct marked_process {
  enum class state {
    elsewhere,  ///< of another machine, or counted by another container: nobody can tell here. Or the text is no mark
    alive,
    gone
  } is = state::elsewhere;
  pid_t pid = 0;  ///< not of one that is elsewhere
};
[[nodiscard]] marked_process find_marked(std::string_view mark);

}  // namespace quire::os
