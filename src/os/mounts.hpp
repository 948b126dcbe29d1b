// SPDX-License-Identifier: BSD-3-Clause
// Mount points of Quire's own: whether something can be mounted at a directory, and taking away what a dead process has
// left there. Used by src/mount in quire_start(), and by the launcher and its agents, who outlive the nodes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace quire::os {

/// The type by which /proc/self/mountinfo knows them.
inline constexpr const char* mount_type = "fuse.quire";

/// Absolute, without symbolic links; empty if that cannot be found out (a part of it does not exist). Works where what
/// is mounted there is dead.
[[nodiscard]] std::string canonical_directory(const std::string& directory);

/// A sentence, with what to do, if nothing can be mounted at `directory`: it does not exist, is no empty directory, or
/// is another job's; there is no /dev/fuse. What a dead job has left there is taken away before. Empty if all is well.
[[nodiscard]] std::string why_no_mount_at(const std::string& directory);

/// If a dead process is mounted at `canonical`, takes that away, and all that is open there gives errors. False if
/// something dead stays. May start a program (fusermount3) where this process has no privilege.
bool detach_if_dead(const std::string& canonical);

/// Whoever waits for the process that is mounted at `canonical`, in a call on a file there, gets an error: a process
/// that is killed while it waits for itself would not end. Asks nothing of what is mounted. Nothing happens where no
/// mount of Quire's is.
void abort_mount(const std::string& canonical);

/// A mount of Quire's that this process sees, whoever serves it; nothing lies on it.
struct mount_point {
  std::string where;  ///< canonical
  uid_t user = 0;
  gid_t group = 0;
  int number = -1;  ///< the kernel's of the mount
};
[[nodiscard]] std::vector<mount_point> mounts();
/// Whether its process has ended. Asks as its user, whom alone the kernel answers, and waits for a moment: one that
/// does not answer, as its process is stopped, is not dead.
[[nodiscard]] bool is_dead(const mount_point& mount);
/// Takes it away at once, dead or not. What went wrong; empty: nothing.
[[nodiscard]] std::string detach(const mount_point& mount);

/// A number for the directory as this process sees it: the same for processes of one host that would mount at the same
/// place. Not 0.
[[nodiscard]] std::uint64_t place_of(const std::string& directory);

}  // namespace quire::os
