// SPDX-License-Identifier: BSD-3-Clause
// The application's process of a split node: its threads hand calls and faults to the engine's process and wait. A
// helper thread does what the engine orders; another one ends the process if the engine's ends.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <thread>

#include "os/process.hpp"
#include "split/board.hpp"

namespace quire::split {

/// What both processes know from before the fork.
struct shared_range {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  board* both = nullptr;
  /// Of the application's address space, one a mode. Both processes keep them: when one is killed, pages that the
  /// kernel no longer guards would be open to the other.
  os::descriptor userfault[2];
  int userfault_errors[2] = {};  ///< why there is none
};

/// The engine's process has ended, and this node with it. A node is killed, whichever half it was that somebody has
/// killed: the end of another node, which has lost it, explains nothing.
[[noreturn]] void end_with_engine(const board& of) noexcept;

class application_side {
 public:
  /// Starts the threads. `engine`: a pidfd of the other process. `lifeline`: closes with this process, or when it
  /// becomes another program.
  application_side(shared_range range, os::descriptor engine, os::descriptor lifeline);
  ~application_side();
  application_side(const application_side&) = delete;
  application_side& operator=(const application_side&) = delete;

  /// Waits until the engine has started; what quire_start() shall return.
  [[nodiscard]] int wait_for_start() noexcept;
  /// Runs a procedure in the engine's process, with `bytes` of arguments, which come back as it left them. Any thread;
  /// async-signal-safe, so that faults come this way too.
  void call(procedure what, std::byte* arguments, std::size_t bytes, int thread) noexcept;
  /// Sends a signal to the engine's process. Async-signal-safe.
  void signal_engine(int number) noexcept;
  /// After quire_end() over there: the engine's process ends, and its end is no accident.
  void end() noexcept;

  [[nodiscard]] const shared_range& range() const noexcept { return range_; }
  [[nodiscard]] bool contains(std::uint64_t address) const noexcept { return address - range_.base < range_.bytes; }
  [[nodiscard]] const board& both() const noexcept { return *range_.both; }

 private:
  [[nodiscard]] mailbox& claim() noexcept;
  bool run_order() noexcept;
  void help() noexcept;
  void watch() noexcept;

  shared_range range_;
  os::descriptor engine_, lifeline_;
  pthread_key_t at_thread_end_{};
  std::thread helper_, watcher_;
};

}  // namespace quire::split
