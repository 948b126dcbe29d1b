// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmp/sites/verdict.hpp"

namespace quire::openmp {

/// What `--memory auto` takes for this program: its executable and libraries are looked at as they are loaded. The same on all nodes that have the same
/// files. Before anything of the program runs.
[[nodiscard]] sites::verdict choose_by_code();

}  // namespace quire::openmp
