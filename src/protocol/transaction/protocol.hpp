// SPDX-License-Identifier: BSD-3-Clause
// The row of transactions in the table of protocols.
#pragma once

#include "protocol/contract/row.hpp"

namespace quire::transaction {

[[nodiscard]] const protocol::row& row() noexcept;

}  // namespace quire::transaction
