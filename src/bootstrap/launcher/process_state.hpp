// SPDX-License-Identifier: BSD-3-Clause
// What a process must be to look after others: signals by descriptor, parent of every orphan. Used by the launcher's
// job and by its agents on other hosts, in a process with one thread.
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <string>

namespace quire::bootstrap::launcher {

/// The signals that a loop takes from a descriptor.
[[nodiscard]] sigset_t handled_signals();

/// What of the process's own state a job changes; put back at the end.
class borrowed_process_state {
 public:
  borrowed_process_state();
  ~borrowed_process_state();
  borrowed_process_state(const borrowed_process_state&) = delete;
  borrowed_process_state& operator=(const borrowed_process_state&) = delete;
  /// As they were before.
  [[nodiscard]] const sigset_t& mask() const noexcept { return mask_; }
  [[nodiscard]] const rlimit& descriptors() const noexcept { return descriptors_; }

 private:
  sigset_t mask_{};
  rlimit descriptors_{};
  void (*child_)(int) = nullptr;
  void (*quit_)(int) = nullptr;
};

/// So that none of our descriptors becomes 0, 1 or 2, which nodes replace.
void open_standard_streams();

/// Of nodes that have ended by themselves: a text that names the children that they have left us. Empty: none.
[[nodiscard]] std::string left_behind();

/// Ends all children, and those that they leave to us, who are their subreaper: SIGTERM, SIGKILL after a second. False
/// if some are still there after five.
[[nodiscard]] bool sweep_orphans();

}  // namespace quire::bootstrap::launcher
