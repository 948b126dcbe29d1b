// SPDX-License-Identifier: BSD-3-Clause
// The table of layouts. A layout is a row, and a folder with its body; a region's description names the row. Rows of a configuration come beside
// those that the library has (tests/sim/toy/two_sizes.hpp is one).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/unit_layout.hpp"

namespace quire::core {

struct layout_row {
  std::uint8_t id = 0;  ///< region_description::layout
  const char* name = "";
  /// Of a region of `bytes`, with `unit_bytes` as its options say. Null: the region cannot have it. Without: uniform.
  std::unique_ptr<const layout_body> (*make)(std::uint64_t bytes, std::uint64_t unit_bytes) = nullptr;
};

namespace layouts {
inline constexpr layout_row uniform{.id = 0, .name = "uniform"};
inline constexpr const layout_row* built_in_rows[] = {&uniform};
[[nodiscard]] constexpr std::span<const layout_row* const> built_in() noexcept { return built_in_rows; }
}  // namespace layouts

}  // namespace quire::core
