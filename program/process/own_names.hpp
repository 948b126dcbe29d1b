// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quire::program {

/// First of all: Quire's libraries, and those that they stand on, call no function of the program that has a name of
/// libc's. Those that are loaded later see to it themselves (src/transport/ucx/library.cpp).
void leave_out_program() noexcept;

/// When libquire has started, which leads calls to itself: what a library of the program's has by chance under a name
/// of libc's is that library's alone, as on one machine.
void lead_to_own_libraries() noexcept;

}  // namespace quire::program
