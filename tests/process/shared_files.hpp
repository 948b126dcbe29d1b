// SPDX-License-Identifier: BSD-3-Clause
// What a job has left in /dev/shm.
#pragma once

#include <dirent.h>
#include <poll.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

namespace quire::test {

class shared_files {
 public:
  /// The name of a file that was not there when this was made, and is of no use to any process; empty if there is none.
  /// Waits for 5 s at most: another job on this machine may just be making a file of its own, which is gone in a
  /// moment.
  [[nodiscard]] std::string left_behind() const {
    std::string left = first_new();
    for (int tries = 0; !left.empty() && tries < 50; ++tries) {
      ::poll(nullptr, 0, 100);
      left = first_new();
    }
    return left;
  }

 private:
  static std::set<std::string> all() {
    std::set<std::string> found;
    DIR* const directory = ::opendir("/dev/shm");
    while (const dirent* entry = directory != nullptr ? ::readdir(directory) : nullptr) found.insert(entry->d_name);
    if (directory != nullptr) ::closedir(directory);
    return found;
  }
  /// Whether a process maps the file: then it belongs to another job that runs now.
  static bool in_use(const std::string& name) {
    DIR* const directory = ::opendir("/proc");
    bool found = false;
    while (const dirent* entry = directory != nullptr && !found ? ::readdir(directory) : nullptr) {
      if (std::atoi(entry->d_name) == 0) continue;
      std::ifstream maps(std::string("/proc/") + entry->d_name + "/maps");
      for (std::string line; !found && std::getline(maps, line);)
        found = line.find("/dev/shm/" + name) != std::string::npos;
    }
    if (directory != nullptr) ::closedir(directory);
    return found;
  }
  std::string first_new() const {
    for (const std::string& name : all())
      if (!before_.contains(name) && !in_use(name)) return name;
    return {};
  }

  std::set<std::string> before_ = all();
};

}  // namespace quire::test
