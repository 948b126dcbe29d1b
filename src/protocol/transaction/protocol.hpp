// SPDX-License-Identifier: BSD-3-Clause
// The rows of transactions in the table of protocols: a job has one of them (QUIRE_COMMIT).
#pragma once

#include "protocol/contract/row.hpp"

namespace quire::transaction {

[[nodiscard]] const protocol::row& by_owners() noexcept;
[[nodiscard]] const protocol::row& by_token() noexcept;

}  // namespace quire::transaction
