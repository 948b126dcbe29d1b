// SPDX-License-Identifier: BSD-3-Clause
// Which machine this process runs on, and in whose name for shared memory: containers of one machine look like hosts.
#pragma once

#include <cstdint>

namespace quire::os {

struct machine_place {
  std::uint64_t machine = 0;  ///< a number of this start of the kernel (boot_id); 0: not known
  std::uint64_t ipc = 0;      ///< the IPC namespace: where it differs, no memory can be shared by name; 0: not known
  /// On one machine, and kept apart.
  [[nodiscard]] bool is_kept_apart_from(const machine_place& other) const noexcept {
    return machine != 0 && machine == other.machine && ipc != 0 && other.ipc != 0 && ipc != other.ipc;
  }
};

[[nodiscard]] machine_place machine_of_process() noexcept;
/// Whether it has another IPC namespace than the first process of the machine, as a container has.
[[nodiscard]] bool has_own_ipc_namespace() noexcept;

}  // namespace quire::os
