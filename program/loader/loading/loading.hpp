// SPDX-License-Identifier: BSD-3-Clause
// Libraries that the program loads during the run, by dlopen(3): all nodes load them, at the same addresses.
//
//   the caller's node   loads, and chooses where files lie (plan.hpp); constructors are kept back
//   each other node     loads the same, there; a clerk does (posix/errands/errand.hpp)
//   the caller's node   shares static data of the program's own libraries, and runs their constructors
//
// dlclose(3) runs destructors in the caller, takes the shared data away, and then each node's dynamic linker the rest.
#pragma once

namespace quire::program {

/// Collective, once: libraries can be loaded from now on.
void open_loading();
/// Node 0, when the program has ended: destructors of what is still loaded.
void end_loaded() noexcept;
}  // namespace quire::program
