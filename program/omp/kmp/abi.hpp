// SPDX-License-Identifier: BSD-3-Clause
// The interface between clang and its OpenMP runtime (libomp, libiomp5): what its calls have in common. Each gets the
// place in the source, and the number that the runtime once gave to the calling thread; a thread is known without both
// here.
#pragma once

#include <cstdint>

namespace quire::program::kmp {

using id = std::int32_t;
struct source;  ///< the place in it; nobody looks at that

/// A word that the compiler makes for a critical section or for reductions; zero at first.
struct critical_name {
  alignas(8) std::uint32_t words[8];
};

/// What a parallel region has become: a function of addresses, as many as the caller says.
using microtask = void (*)(id* thread, id* thread_of_team, ...);

/// Calls a microtask. `arguments` has room for four at least.
void invoke(microtask what, id* thread, id* thread_of_team, id count, void* const* arguments) noexcept(false);

}  // namespace quire::program::kmp

/// A function of the interface, by its name.
#define QUIRE_KMP extern "C" __attribute__((visibility("default")))
