// SPDX-License-Identifier: BSD-3-Clause
#include "os/process_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "os/injection.hpp"

namespace quire::os {
namespace {

/// Not before it is known to be what is wanted: to open a device may do something. A descriptor, or -errno.
template <class Test>
int open_if(pid_t pid, int fd, Test is_wanted) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%ld/fd/%d", static_cast<long>(pid), fd);
  struct stat about {};
  if (::stat(path, &about) != 0) return -errno;
  if (!is_wanted(about)) return -ESTALE;
  const int opened = ::open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (opened < 0) return -errno;
  if (::fstat(opened, &about) == 0 && is_wanted(about)) return opened;
  ::close(opened);
  return -ESTALE;
}

}  // namespace

file_identity identity_of(int fd) noexcept {
  struct stat about {};
  return ::fstat(fd, &about) == 0 ? file_identity{about.st_dev, about.st_ino} : file_identity{};
}

std::uint64_t size_of(int fd) noexcept {
  struct stat about {};
  return ::fstat(fd, &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
}

int open_of_process(pid_t pid, int fd, file_identity which) noexcept {
  if (injected(call::process_file)) return -errno;
  return open_if(pid, fd, [which](const struct stat& about) {
    return which.known() && file_identity{about.st_dev, about.st_ino} == which;
  });
}

int open_of_process(pid_t pid, int fd, mode_t type, off_t bytes) noexcept {
  return open_if(pid, fd,
                 [=](const struct stat& about) { return (about.st_mode & S_IFMT) == type && about.st_size == bytes; });
}

}  // namespace quire::os
