// SPDX-License-Identifier: BSD-3-Clause
// A control group (version 1) with one limit, for what is started in it. Used by tests that are root.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

namespace quire::test {

class small_group {
 public:
  /// `controller`: "memory" say; `file`: of the limit.
  small_group(const std::string& controller, const std::string& file, std::uint64_t limit) {
    const std::string mark = ":" + controller + ":";
    std::ifstream mine("/proc/self/cgroup");
    for (std::string line; std::getline(mine, line);)
      if (const auto at = line.find(mark); at != line.npos)
        path_ = "/sys/fs/cgroup/" + controller + line.substr(at + mark.size()) + "/quire-test-" +
                std::to_string(::getpid()) + "-" + std::to_string(count()++);
    if (path_.empty() || ::mkdir(path_.c_str(), 0755) != 0) return;
    std::ofstream to(path_ + "/" + file);
    made_ = static_cast<bool>(to << limit << std::flush);
  }
  ~small_group() {
    // What was killed in it may still be on its way out.
    for (int tries = 0; !path_.empty() && ::rmdir(path_.c_str()) != 0 && errno == EBUSY && tries < 5000; ++tries)
      ::usleep(1000);
  }
  small_group(const small_group&) = delete;
  small_group& operator=(const small_group&) = delete;
  [[nodiscard]] bool made() const noexcept { return made_; }
  /// A process that runs already.
  [[nodiscard]] bool take(pid_t pid) const {
    std::ofstream to(path_ + "/cgroup.procs");
    return static_cast<bool>(to << pid << std::flush);
  }
  [[nodiscard]] std::vector<std::string> inside(const std::vector<std::string>& command) const {
    std::vector<std::string> all{"sh", "-c", "echo $$ > " + path_ + "/cgroup.procs; exec \"$@\"", "sh"};
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }

 private:
  static int& count() {
    static int groups = 0;
    return groups;
  }
  std::string path_;
  bool made_ = false;
};

}  // namespace quire::test
