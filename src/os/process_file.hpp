// SPDX-License-Identifier: BSD-3-Clause
// What another process of this machine has open, as memory and pipes without names are shared. That needs the right to
// look into the process, as a debugger has, and the same PID namespace. Application context.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>

namespace quire::os {

/// Which file it is, for all processes of a machine.
struct file_identity {
  std::uint64_t device = 0, inode = 0;
  [[nodiscard]] bool known() const noexcept { return inode != 0; }
  friend bool operator==(file_identity, file_identity) noexcept = default;
};
/// Of an open descriptor; not known if that fails.
[[nodiscard]] file_identity identity_of(int fd) noexcept;
/// How long it is; 0 if that cannot be told.
[[nodiscard]] std::uint64_t size_of(int fd) noexcept;
/// Opens what process `pid` has open under number `fd`, for reading and writing, if it is that file. A descriptor, or
/// -errno: ESTALE if it is another one.
[[nodiscard]] int open_of_process(pid_t pid, int fd, file_identity which) noexcept;
/// The same, if it is of `type` (S_IFREG, S_IFIFO) and has `bytes` bytes.
[[nodiscard]] int open_of_process(pid_t pid, int fd, mode_t type, off_t bytes) noexcept;

}  // namespace quire::os
