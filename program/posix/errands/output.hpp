// SPDX-License-Identifier: BSD-3-Clause
// Standard output is one file of all nodes, and a stream of each: what a thread has written before it lets others go on
// (a barrier, a lock, a turn, a signal) comes before what they write behind it, also where no line is whole yet.
#pragma once

#include <stdio_ext.h>

#include "program/posix/errands/where.hpp"

namespace quire::program {

/// Before this thread tells others that it has come so far. A stream that another thread has locked stays: that thread
/// may wait for the caller.
inline void write_output() noexcept {
  FILE* const stream = &_IO_2_1_stdout_;
  if (!files::apart || ::__fpending(stream) == 0 || QUIRE_NEXT(ftrylockfile)(stream) != 0) return;
  (void)QUIRE_NEXT(fflush_unlocked)(stream);
  QUIRE_NEXT(funlockfile)(stream);
}

}  // namespace quire::program
