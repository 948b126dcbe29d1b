// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quire::program {

/// Before any other thread is there: `__libc_single_threaded` of Quire, libstdc++ and the system's libraries is
/// private. An executable in C++ may have a copy of it in its own static data, which will be shared, and which those
/// would ask while they serve a fault.
void separate_single_threaded() noexcept;

}  // namespace quire::program
