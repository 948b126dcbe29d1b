// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quire::program {

/// Node 0, before the program begins: new files of all nodes have the mask (umask(2)) that node 0 was started with.
void share_mask() noexcept;

}  // namespace quire::program
