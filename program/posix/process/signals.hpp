// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quire::program {

/// Before a handler of the program may come, on one of its threads: it may call for other nodes.
void prepare_for_handlers() noexcept;

}  // namespace quire::program
