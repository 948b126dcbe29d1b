// File descriptors that a library opens behind our back must not leak into programs that the application starts: a
// child that holds the sockets of a dead node would keep its peers from noticing. Used by worker.cpp and ucx.cpp at the
// start.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

#include <algorithm>
#include <vector>

namespace quire::transport::ucx {

/// Marks the descriptors that were opened during its life as close-on-exec.
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

}  // namespace quire::transport::ucx
