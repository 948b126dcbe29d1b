// SPDX-License-Identifier: BSD-3-Clause
// The table of protocols that the library has. A protocol more is a folder beside its neighbours, and a line in
// table.cpp.
#pragma once

#include <span>

#include "protocol/contract/row.hpp"

namespace quire::protocol {

[[nodiscard]] std::span<const row* const> built_in() noexcept;
/// The same where transactions commit by the token (QUIRE_COMMIT): its row is in place of that of owners.
[[nodiscard]] std::span<const row* const> with_token() noexcept;

}  // namespace quire::protocol
