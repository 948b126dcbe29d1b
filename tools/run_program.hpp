// SPDX-License-Identifier: BSD-3-Clause
// What `quire run` does with the program of its command line before the job: it looks through programs that only start
// it, has stock programs started by `quire exec`, and refuses what no node could do.
#pragma once

#include <string>
#include <vector>

#include "bootstrap/launcher/launcher.hpp"
#include "exec_settings.hpp"

namespace quire::tools {

/// What was asked for on the command line.
struct start_wishes {
  std::string memory, place;
  bool copies = false;  ///< --copies: as it is
  bool tells = true;    ///< lines that are no error
};

struct run_program {
  std::string name;             ///< its word of the command line
  bool by_exec = false;         ///< `quire exec` starts it
  bool places_threads = false;  ///< it makes threads itself, which begin where --place says
  std::string script;           ///< a program of Python's that knows nothing of Quire
  std::string hidden;           ///< a program that is started by this one, and would be for `quire exec`
  std::size_t exec_words = 0;   ///< so many words before it start it,
  exec_settings at_once;        ///< and are not needed where nodes get these; empty: they are
};

/// Changes the words where `quire exec` is to stand before the program. 0, or the exit status after a message.
[[nodiscard]] int prepare(std::vector<std::string>& command, const start_wishes& asked, run_program& program);

/// Leaves `quire exec` out where nodes are children of this process and need nothing else of it.
void start_at_once(const run_program& program, bootstrap::launcher::job_plan& plan);

/// A line of a program that another one, or a script, starts as copies.
void warn_of_hidden(const run_program& program);

}  // namespace quire::tools
