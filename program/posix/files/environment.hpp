// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quire::program {

/// Node 0, before the program begins: if it has the variable `environ`, other nodes find there what node 0 does.
void share_environment() noexcept;

}  // namespace quire::program
