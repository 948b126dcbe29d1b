// SPDX-License-Identifier: BSD-3-Clause
// The row of the sequential protocol in the table of protocols.
#pragma once

#include "protocol/contract/row.hpp"

namespace quire::sequential {

[[nodiscard]] const protocol::row& row() noexcept;

}  // namespace quire::sequential
