// SPDX-License-Identifier: BSD-3-Clause
// Libraries that the program loads during the run, by dlopen(3): all nodes load them, at the same addresses.
//
//   the caller's node   loads, and chooses where files lie (plan.hpp); constructors are kept back
//   each other node     loads the same, there; a clerk does (posix/errands/errand.hpp)
//   the caller's node   shares static data of the program's own libraries, and runs their constructors
//
// dlclose(3) runs destructors in the caller, takes the shared data away, and then each node's dynamic linker the rest.
#pragma once

#include <atomic>
#include <cstdint>

namespace quire::openmp {

/// Collective, once: libraries can be loaded from now on.
void open_loading();
/// Node 0, when the program has ended: destructors of what is still loaded.
void end_loaded() noexcept;

/// Whether a library at this address was loaded for all nodes.
[[nodiscard]] bool is_placed(std::uint64_t base) noexcept;
/// A thread of this node loads something.
extern std::atomic<bool> g_loads __attribute__((visibility("hidden")));
void look_at_mapped() noexcept;
/// The dynamic linker asks for memory: it has just mapped files, or is about to.
inline void note_linkers_memory() noexcept {
  if (g_loads.load(std::memory_order_relaxed)) [[unlikely]]
    look_at_mapped();
}

}  // namespace quire::openmp
