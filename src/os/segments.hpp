// SPDX-License-Identifier: BSD-3-Clause
// What page pools other than memfd are made of: files, POSIX objects, System V segments, duplicated mappings. One
// checked wrapper per system call; a negative result is -errno, nothing is logged here.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quire::os {

/// Where the C library keeps POSIX shared memory objects.
inline constexpr const char* posix_objects = "/dev/shm";

/// `wanted`, or where temporary files go on this system.
[[nodiscard]] std::string temporary_directory(const std::string& wanted);
/// A file of `bytes` in `directory`, sparse and without a name. A descriptor, or -errno. Where the file system makes
/// none without a name it has one for a moment, and names that killed processes of this user have left there are
/// removed first. Fault context.
[[nodiscard]] int make_temporary_file(const char* directory, std::uint64_t bytes) noexcept;
/// Writes `bytes` zeros from the start of `fd`. 0 or errno.
[[nodiscard]] int write_zeroes(int fd, std::uint64_t bytes) noexcept;
/// Room on the file system of `directory`; 0 if it cannot be told.
[[nodiscard]] std::uint64_t free_bytes(const char* directory) noexcept;
/// Whether files in `directory` are the kernel's shared memory (tmpfs).
[[nodiscard]] bool is_in_memory(const char* directory) noexcept;

struct segment_limits {
  std::uint64_t bytes = 0;  ///< of one segment: kernel.shmmax
  std::uint64_t count = 0;  ///< kernel.shmmni
};
[[nodiscard]] segment_limits read_segment_limits() noexcept;
/// Mappings that a process may have (vm.max_map_count).
[[nodiscard]] std::uint64_t most_mappings() noexcept;
/// A System V segment of `bytes`, for this process. Its id, or -errno.
[[nodiscard]] int make_segment(std::uint64_t bytes) noexcept;
/// What was made for a moment and is still there, as the process that made it was killed meanwhile. Of this user, or
/// of all users.
struct left_segment {
  int id = -1;
  std::uint64_t bytes = 0;
  pid_t maker = 0;
};
[[nodiscard]] std::vector<left_segment> dead_segments(bool of_all);
/// Names of make_temporary_file() in `directory`, as whole paths. A process that lives may need one for a moment, and
/// is as well without it.
[[nodiscard]] std::vector<std::string> left_names(const std::string& directory, bool of_all);
/// Removes segments of make_segment() that processes of this user have left: they were killed before remove_segment().
/// Processes that live, and other programs, keep theirs.
void remove_dead_segments() noexcept;
/// Attaches a segment at `at`, replacing what the caller has reserved there. 0 or errno.
[[nodiscard]] int attach_segment(int id, void* at) noexcept;
/// The segment goes when nobody is attached any more.
void remove_segment(int id) noexcept;

/// ParADE's mdup(): a second range of addresses for the pages of a shared mapping, which stays. With `at`, exactly
/// there, replacing what the caller has reserved. nullptr with errno in `error`.
[[nodiscard]] void* mdup(void* address, std::uint64_t bytes, void* at, int& error) noexcept;

}  // namespace quire::os
