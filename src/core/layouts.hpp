// SPDX-License-Identifier: BSD-3-Clause
// The table of layouts. A layout is a row, and a folder with its body; a region's description names the row. Rows of a
// configuration come beside those that the library has (layouts.cpp); tests/sim/toy/two_sizes.hpp is one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/unit_layout.hpp"

namespace quire::core {

/// Of a region, as its options say.
struct layout_request {
  std::uint64_t bytes = 0, unit_bytes = 0;
  unsigned views = 0;  ///< fine ones
};

struct layout_row {
  std::uint8_t id = 0;  ///< region_description::layout
  const char* name = "";
  /// Null: the region cannot have it. Without: uniform.
  std::unique_ptr<layout_body> (*make)(const layout_request& about) = nullptr;
};

namespace layouts {
inline constexpr layout_row uniform{.id = 0, .name = "uniform"};
/// Those that the library has.
[[nodiscard]] std::span<const layout_row* const> built_in() noexcept;
}  // namespace layouts

}  // namespace quire::core
