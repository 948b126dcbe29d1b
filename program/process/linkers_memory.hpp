// SPDX-License-Identifier: BSD-3-Clause
// The dynamic linker takes memory by malloc(3) as it loads a library: who loads one hears of it then.
#pragma once

#include <atomic>

namespace quire::program {

using linkers_memory_function = void() noexcept;
/// Null: no thread of this node loads anything.
inline constinit std::atomic<linkers_memory_function*> g_on_linkers_memory
    __attribute__((visibility("hidden"))){nullptr};

/// The dynamic linker asks for memory: it has just mapped files, or is about to.
inline void note_linkers_memory() noexcept {
  if (linkers_memory_function* const tell = g_on_linkers_memory.load(std::memory_order_relaxed); tell != nullptr)
      [[unlikely]]
    tell();
}

}  // namespace quire::program
