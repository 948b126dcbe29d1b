// SPDX-License-Identifier: BSD-3-Clause
// All updates of a program's code are made to look first (stub.hpp): all, or none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "program/sites/site.hpp"

namespace quire::program::watch {

/// A module, as it is loaded.
struct watched_code {
  std::string name;  ///< in sentences
  std::uint64_t base = 0;
  std::uint64_t code_first = 0, code_end = 0;  ///< as loaded
  std::vector<sites::site> updates{};          ///< those that are not harmless, by address
  std::vector<sites::site> spins{};            ///< what stands in loops that wait, by address (spin.hpp)
};

/// Before anything of the program runs, with one thread. False, with the reason in `why`, and no code has changed.
[[nodiscard]] bool watch_updates(std::span<const watched_code> modules, std::string& why);
/// Before anything of the program runs, and instead of watch_updates(): only those loops that wait tell so.
void watch_spins(std::span<const watched_code> modules);
/// From now on what lies here is known to be sequential, and most updates go there.
void set_common_heap(std::uint64_t first, std::uint64_t bytes) noexcept;

}  // namespace quire::program::watch
