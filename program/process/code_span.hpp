// SPDX-License-Identifier: BSD-3-Clause
// Code in memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire::program {

struct span {
  std::uintptr_t first = 0, bytes = 0;
  [[nodiscard]] bool has(const void* at) const noexcept { return reinterpret_cast<std::uintptr_t>(at) - first < bytes; }
};
/// The code of the module that has `symbol`.
[[nodiscard]] span code_around(const void* symbol) noexcept;

}  // namespace quire::program
