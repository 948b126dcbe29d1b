// SPDX-License-Identifier: BSD-3-Clause
// Constructors and destructors of the program and of its own libraries: they run on node 0, in shared memory, as main()
// does.
#pragma once

namespace quire::openmp {

/// On node 0, before main(): those of libraries in the order that the dynamic linker has chosen, then those of the
/// executable.
void run_constructors(int count, char** arguments, char** environment, bool of_executable);
/// On node 0, after the program's own: those of libraries.
void run_destructors() noexcept;

}  // namespace quire::openmp
