// SPDX-License-Identifier: BSD-3-Clause
// Calls of the API that close pages to the threads of this node, and open them: page_closing.cpp. What is closed a
// region knows (closed_pages.hpp). Any application thread.
#pragma once

#include <cstdint>

#include "base/status.hpp"

namespace quire::core {

class core;

/// Threads of this node may no longer access whole pages of a region, or may again. QUIRE_BAD_ADDRESS: not within one
/// region; QUIRE_UNSUPPORTED: not in this one; QUIRE_NO_MEMORY, QUIRE_SYSTEM.
base::status close_pages(core& node, std::uint64_t address, std::uint64_t bytes, bool closed) noexcept;
/// Whether a page of a range is closed, as far as its first region reaches.
[[nodiscard]] bool has_closed(const core& node, std::uint64_t address, std::uint64_t bytes) noexcept;

}  // namespace quire::core
