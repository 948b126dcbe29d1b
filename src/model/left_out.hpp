// SPDX-License-Identifier: BSD-3-Clause
// What a protocol cannot do, and is never asked for: its row of the table says so (src/protocol/contract).
#pragma once

#include "base/check.hpp"

namespace quire::model {

[[noreturn]] inline void left_out() noexcept {
  base::check_failed("a protocol is asked only for what its row of the table says it can", __FILE__, __LINE__);
}

}  // namespace quire::model
