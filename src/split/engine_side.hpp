// SPDX-License-Identifier: BSD-3-Clause
// The engine's process of a split node. Each thread of the application has a server thread here, which runs what it
// asks for: to the engine, that thread is the application's. What only the application's process can do to its pages is
// ordered.
#pragma once

#include <atomic>
#include <functional>
#include <span>

#include "os/address_space.hpp"
#include "os/process.hpp"
#include "split/application_side.hpp"

namespace quire::split {

class engine_side final : public os::address_space {
 public:
  /// `application`: a pidfd of the other process. `lifeline`: at its end when that process is gone or has become
  /// another program.
  engine_side(shared_range range, pid_t application_pid, os::descriptor application, os::descriptor lifeline);

  // os::address_space: the application's. Any thread.
  int protect(void* address, std::size_t bytes, int prot) noexcept override;
  int advise(void* address, std::uint64_t bytes, int advice) noexcept override;
  [[nodiscard]] int open_userfault(os::userfault_mode mode) noexcept override;

  /// Runs a procedure with a copy of `data` (at most 320 bytes) in the application's process. It must not wait.
  [[nodiscard]] int run_there(int (*procedure)(const std::byte*), std::span<const std::byte> data) noexcept;

  /// Tells the application how the start went.
  void report(int status, int node, int nodes, std::uint64_t spin_ns, bool kernel_waits) noexcept;
  [[nodiscard]] pid_t application_pid() const noexcept { return application_pid_; }
  /// Whether a signal has stopped the application (SIGSTOP, Ctrl-Z), rather than a debugger. Any thread.
  [[nodiscard]] bool application_stopped() const noexcept;
  /// Serves until the application ends, well or not, and ends this process. `crashed` is called if it was not well.
  [[noreturn]] void serve(std::function<void()> crashed);

 private:
  int give(order::kind what, const void* address, std::uint64_t bytes, int argument) noexcept;
  template <class Fill>
  int carry_out_there(Fill&& fill) noexcept;
  void watch() noexcept;

  shared_range range_;
  pid_t application_pid_;
  os::descriptor application_, lifeline_;
  std::atomic<bool> ordering_{false}, gone_{false};
  std::function<void()> crashed_;
  std::atomic<bool> serving_{false};  ///< crashed_ is set
};

/// The engine's side, in that process; else null.
[[nodiscard]] engine_side* engine_here() noexcept;
void set_engine_here(engine_side* side) noexcept;

/// Number of the thread that this server thread stands for; -1 elsewhere.
[[nodiscard]] int thread_served() noexcept;

}  // namespace quire::split
