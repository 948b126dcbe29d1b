// SPDX-License-Identifier: BSD-3-Clause
// A file without a name that another process of this machine has open. Application context.
#pragma once

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
/// Opens what process `pid` has open under number `fd`, for reading and writing, if it is that file. A descriptor, or
/// -errno: ESTALE if it is another one.
[[nodiscard]] int open_of_process(pid_t pid, int fd, file_identity which) noexcept;

}  // namespace quire::os
