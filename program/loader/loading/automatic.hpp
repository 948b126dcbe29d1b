// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "program/process/modules.hpp"

namespace quire::program {

struct memory_choice {
  bool mixed = false;
  char why[600] = {};  ///< after "as"
};
/// What `--memory auto` takes for this program: its executable and libraries are looked at as they are loaded, and if
/// the memory is mixed, their updates are watched from then on (process/watch/patch.hpp). The same on all nodes that
/// have the same files. Before anything of the program runs.
[[nodiscard]] memory_choice choose_by_code();
/// For memory that is sequential whatever the code shows: loops that wait serve others (process/watch/spin.hpp), if
/// that can be.
void watch_loops();
/// For memory that is mixed whatever the code shows. False: some updates are not watched, or not known.
[[nodiscard]] bool watch_what_can_be();
/// The same of libraries that have been loaded during the run, and of which nobody runs anything yet. False, and why,
/// if mixed memory is nothing for them: nothing has changed.
[[nodiscard]] bool watch_loaded(std::span<const module> loaded, std::string& why);

/// As `quire run --memory` says (process/memory_mode.hpp). Before restore_environment(), and before the job starts;
/// sets what the job needs to know of it. Ends the process if the value is none.
void choose_memory() noexcept;

}  // namespace quire::program
