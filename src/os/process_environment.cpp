// SPDX-License-Identifier: BSD-3-Clause
#include "os/process_environment.hpp"

#include <poll.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace quire::os {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();  // a process that ends meanwhile is an error of reading: what came is told
  return text.str();
}

std::string of_any_thread(const std::string& folder) {
  std::string found = content_of(folder + "/environ");
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder + "/task", error), end; found.empty() && !error && at != end;
       at.increment(error))
    found = content_of(at->path().string() + "/environ");
  return found;
}

/// From execve(2) to the start of the program there are neither arguments nor an environment. Processes that have ended
/// have no file, nor have threads of the kernel.
bool is_beginning(const std::string& folder) {
  std::error_code error;
  (void)std::filesystem::read_symlink(folder + "/exe", error);
  return !error && content_of(folder + "/cmdline").empty();
}

}  // namespace

std::string environment_of(pid_t pid) {
  constexpr int most_tries = 100, pause_ms = 1;
  const std::string folder = "/proc/" + std::to_string(pid);
  std::string found = of_any_thread(folder);
  for (int i = 0; i < most_tries && found.empty() && is_beginning(folder); ++i) {
    ::poll(nullptr, 0, pause_ms);
    found = of_any_thread(folder);
  }
  return found;
}

}  // namespace quire::os
