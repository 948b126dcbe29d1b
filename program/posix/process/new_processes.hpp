// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quire::program {

/// A system call by its number that would make a copy of the node's process, or put another program in its place: ends
/// the node with a line.
void refuse_process_call(long number, const long* arguments, const void* caller) noexcept;

}  // namespace quire::program
