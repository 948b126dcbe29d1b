// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quire::program {

/// The program has made a child on this node, by fork(2).
void note_child() noexcept;

}  // namespace quire::program
