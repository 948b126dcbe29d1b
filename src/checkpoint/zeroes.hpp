// SPDX-License-Identifier: BSD-3-Clause
// Zeroes are not written: a file reads as zeroes where nothing is.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

namespace quire::checkpoint {

[[nodiscard]] inline bool is_zero(std::span<const std::byte> bytes) noexcept {
  return bytes.empty() ||
         (bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace quire::checkpoint
