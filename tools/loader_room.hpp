// SPDX-License-Identifier: BSD-3-Clause
// Libraries at the same addresses on all nodes, though LD_LIBRARY_PATH is not the same: mpirun, for one, extends it on
// other hosts alone. The dynamic linker allocates pages between the libraries that it maps, and how many depends on
// that variable's length.
#pragma once

#include <string>

namespace quire::tools {

/// LD_LIBRARY_PATH with the same folders in the same order as `folders` (may be empty), and of a length of its own: it
/// begins with what makes glibc's dynamic linker reserve room for its allocations, and ends with what fills it up.
/// More than 8 KiB of folders: as long as the next multiple of that.
[[nodiscard]] std::string with_loader_room(const std::string& folders);

}  // namespace quire::tools
