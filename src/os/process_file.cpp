// SPDX-License-Identifier: BSD-3-Clause
#include "os/process_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "os/injection.hpp"

namespace quire::os {

file_identity identity_of(int fd) noexcept {
  struct stat about {};
  return ::fstat(fd, &about) == 0 ? file_identity{about.st_dev, about.st_ino} : file_identity{};
}

int open_of_process(pid_t pid, int fd, file_identity which) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%ld/fd/%d", static_cast<long>(pid), fd);
  const int opened = injected(call::process_file) ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
  if (opened < 0) return -errno;
  if (which.known() && identity_of(opened) == which) return opened;
  ::close(opened);
  return -ESTALE;
}

}  // namespace quire::os
