// SPDX-License-Identifier: BSD-3-Clause
// Which machine this process runs on, and in which namespaces: containers of one machine look like hosts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quire::os {

struct machine_place {
  std::uint64_t machine = 0;                 ///< a number of this start of the kernel (boot_id); 0: not known
  std::uint64_t ipc = 0, pid = 0, user = 0;  ///< namespaces: where one differs, no memory can be shared; 0: not known
  std::uint64_t network = 0;                 ///< where it differs, loopback leads nowhere
  [[nodiscard]] bool is_with(const machine_place& other) const noexcept {
    return machine != 0 && machine == other.machine;
  }
  /// As far as is known. In another network namespace a node has another address, as on another host.
  [[nodiscard]] bool is_on_network_of(const machine_place& other) const noexcept {
    return network == 0 || other.network == 0 || network == other.network;
  }
  /// On one machine, and kept apart.
  [[nodiscard]] bool is_kept_apart_from(const machine_place& other) const noexcept;
  /// What keeps them apart, for people: "IPC and PID namespaces", and the options of `docker run` that give one for
  /// all: "--ipc=host --pid=host".
  struct reason {
    std::string what, options;
  };
  [[nodiscard]] reason why_apart_from(const machine_place& other) const;
};

[[nodiscard]] machine_place machine_of_process() noexcept;
/// Of each of these the number of the first on the same host, which is lost as a whole: the same machine, or where all
/// are on one, the same network, as containers have one each. Of whom nothing is known is on a host of its own.
[[nodiscard]] std::vector<std::uint16_t> hosts_of(std::span<const machine_place> places);
/// A number of the place and of what the process may: processes of one program with the same one can open each other's
/// memory (/proc/PID/fd; ptrace(2), access mode checking). 0: not known.
[[nodiscard]] std::uint64_t memory_place_of_process() noexcept;
/// Whether it has another IPC namespace than the first process of the machine, as a container has.
[[nodiscard]] bool has_own_ipc_namespace() noexcept;

}  // namespace quire::os
