// SPDX-License-Identifier: BSD-3-Clause
// Whether the kernel has killed processes because memory was used up: a node's death by SIGKILL has no other word. Used
// by the launcher's loop.
#pragma once

#include <cstdint>
#include <string>

namespace quire::bootstrap::launcher {

/// Counts from its making on. In containers the count may be of the whole system.
class memory_kills {
 public:
  memory_kills() noexcept : before_(count()) {}
  /// A part of a sentence about a process that was killed by SIGKILL; empty if nothing was killed for want of memory.
  [[nodiscard]] std::string explain() const;

 private:
  [[nodiscard]] static std::uint64_t count() noexcept;
  std::uint64_t before_;
};

}  // namespace quire::bootstrap::launcher
