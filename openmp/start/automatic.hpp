// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmp/sites/verdict.hpp"

namespace quire::openmp {

/// What `--memory auto` takes for this program: its executable and libraries are looked at as they are loaded, and if the memory is mixed, their updates are
/// watched from then on (watch/patch.hpp). The same on all nodes that have the same files. Before anything of the program runs.
[[nodiscard]] sites::verdict choose_by_code();
/// For memory that is mixed whatever the code shows. False: some updates are not watched, or not known.
[[nodiscard]] bool watch_what_can_be();

}  // namespace quire::openmp
