// SPDX-License-Identifier: BSD-3-Clause
// Code of the program that Quire has changed, as it was: who looks at what a function does reads that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quire::program::sites {

/// A byte was this one before it was changed. While there is one thread.
void remember_code(std::uint64_t at, std::uint8_t before) noexcept;
/// Code that stands here, as it was; nothing if so much has changed that some is not known. Any thread.
[[nodiscard]] std::vector<std::byte> unchanged_code(std::span<const std::byte> code);

}  // namespace quire::program::sites
