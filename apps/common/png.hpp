// SPDX-License-Identifier: BSD-3-Clause
// Pictures as PNG files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace apps {

/// Writes a picture of RGBA pixels (red in the lowest byte), row by row from the top. Throws std::runtime_error.
void write_png(const std::string& path, std::span<const std::uint32_t> pixels, std::size_t width, std::size_t height);

}  // namespace apps
