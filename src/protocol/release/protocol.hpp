// SPDX-License-Identifier: BSD-3-Clause
// The row of the release protocol in the table of protocols.
#pragma once

#include "protocol/contract/row.hpp"

namespace quire::release {

[[nodiscard]] const protocol::row& row() noexcept;

}  // namespace quire::release
