// SPDX-License-Identifier: BSD-3-Clause
// Which pages were ever written: written_pages.cpp. Any application thread.
#pragma once

#include <array>
#include <cstdint>

#include "base/status.hpp"

namespace quire::core {

class core;

struct written_pages {
  static constexpr std::uint64_t most_pages = 2048;
  std::array<std::uint64_t, most_pages / 64> bits{};  ///< of the first pages of a range
  std::uint64_t next = 0;                             ///< so many bytes from its beginning on have none
};

/// Of whole pages, those whose content on this node may differ from zero. A page that no node says that of has never
/// been written. QUIRE_BAD_ADDRESS: not within one region; QUIRE_UNSUPPORTED: this one cannot tell.
base::status find_written(core& node, std::uint64_t address, std::uint64_t bytes, written_pages& found) noexcept;

}  // namespace quire::core
