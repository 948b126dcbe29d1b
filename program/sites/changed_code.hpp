// SPDX-License-Identifier: BSD-3-Clause
// Code of the program that Quire has changed, as it was: who looks at what a function does reads that. It is changed at
// the start, and of libraries that the program loads during the run, while other threads look. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quire::program::sites {

/// A byte was this one before it was changed. If it is changed again this was Quire's own, and the first one counts.
void remember_code(std::uint64_t at, std::uint8_t before) noexcept;
/// No changed code is at [first, end): it is no longer mapped, or was just mapped.
void forget_code(std::uint64_t first, std::uint64_t end) noexcept;
/// Code that stands here, as it was; nothing if so much has changed that some is not known.
[[nodiscard]] std::vector<std::byte> unchanged_code(std::span<const std::byte> code);

}  // namespace quire::program::sites
