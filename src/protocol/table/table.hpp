// SPDX-License-Identifier: BSD-3-Clause
// The table of protocols that the library has. A protocol more is a folder beside its neighbours, and a line in table.cpp.
#pragma once

#include <span>

#include "protocol/contract/row.hpp"

namespace quire::protocol {

[[nodiscard]] std::span<const row* const> built_in() noexcept;

}  // namespace quire::protocol
