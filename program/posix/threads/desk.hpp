// SPDX-License-Identifier: BSD-3-Clause
// Where a call lies that is made on another node (posix/errands/errand.hpp). In shared memory.
#pragma once

#include <quire/quire.h>

#include <cstddef>
#include <cstdint>

#include "program/posix/threads/interrupts.hpp"

namespace quire::program {

/// One page. What stands before `what` is set once.
struct desk {
  static constexpr std::size_t page = 4096, result_room = 64, call_room = 512;
  quire_semaphore called, done;
  quire_remote_thread clerk;
  desk* next;              ///< of all desks of the job
  interruptible* calling;  ///< the clerk's, on its node
  void (*what)(desk&);     ///< null: the clerk ends
  int error;               ///< errno, if the call has set it
  std::uint32_t use;       ///< who has it
  std::uint32_t turn;      ///< of the call
  bool broken_pipe;        ///< the call has raised SIGPIPE
  static constexpr std::uint32_t nobody = 0, caller = 1, ended = 2;
  alignas(64) std::byte result[result_room];
  alignas(64) std::byte call[call_room];
  alignas(
      64) std::byte carried[page - 64 - result_room - call_room];  ///< what the call reads and writes, if it is little
};
static_assert(sizeof(desk) == desk::page);

}  // namespace quire::program
