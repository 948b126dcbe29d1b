// SPDX-License-Identifier: BSD-3-Clause
#include "transport/common/elsewhere.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>

namespace quire::transport {

int open_elsewhere(std::int32_t process, std::int32_t number, mode_t type, off_t bytes) noexcept {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", process, number);
  struct stat about {};
  if (::stat(path, &about) != 0 || (about.st_mode & S_IFMT) != type || about.st_size != bytes) return -1;
  return ::open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

}  // namespace quire::transport
