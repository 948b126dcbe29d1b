// SPDX-License-Identifier: BSD-3-Clause
// The executable as the dynamic linker has mapped it.
#pragma once

namespace quire::openmp {

/// Collective: the program's static data, but for what is read-only after relocation, is shared from now on, as node 0 has it.
void share_static_data();
/// DT_INIT and DT_INIT_ARRAY of the executable.
void run_constructors(int count, char** arguments, char** environment);
/// What was set to start the program with this library, and is none of its business: children shall not have it.
void restore_environment();

}  // namespace quire::openmp
