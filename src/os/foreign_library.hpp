// SPDX-License-Identifier: BSD-3-Clause
// Precautions while a foreign library (UCX, PMIx) opens descriptors and starts threads in our process. Used by
// src/transport and src/bootstrap at the start, in the application's thread.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <vector>

namespace quire::os {

/// Marks the descriptors that were opened during its life as close-on-exec: a program that the application starts and
/// that holds the sockets of a dead node would keep its peers from noticing.
class close_on_exec_scope {
 public:
  close_on_exec_scope() : before_(open_descriptors()) {}
  ~close_on_exec_scope() {
    for (const int fd : open_descriptors()) {
      if (std::find(before_.begin(), before_.end(), fd) == before_.end()) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
  }
  close_on_exec_scope(const close_on_exec_scope&) = delete;
  close_on_exec_scope& operator=(const close_on_exec_scope&) = delete;

 private:
  static std::vector<int> open_descriptors() {
    std::vector<int> found;
    DIR* const directory = ::opendir("/proc/self/fd");
    if (directory == nullptr) return found;
    while (const dirent* entry = ::readdir(directory)) {
      const int fd = ::atoi(entry->d_name);
      if (entry->d_name[0] != '.' && fd != ::dirfd(directory)) found.push_back(fd);
    }
    ::closedir(directory);
    return found;
  }

  std::vector<int> before_;
};

}  // namespace quire::os
