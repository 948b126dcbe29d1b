// SPDX-License-Identifier: BSD-3-Clause
// The stores that regions may name: a row each. A program of its own (a test) may have others: core::configuration.
#pragma once

#include <span>

#include "store/store.hpp"

namespace quire::store {

[[nodiscard]] std::span<const row* const> built_in() noexcept;
/// The row of that number; null if there is none.
[[nodiscard]] const row* find(std::span<const row* const> among, unsigned id) noexcept;

}  // namespace quire::store
