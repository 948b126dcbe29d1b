// SPDX-License-Identifier: BSD-3-Clause
#include "os/process_environment.hpp"

#include <poll.h>

#include <cstdint>
#include <filesystem>

#include "os/file_content.hpp"

namespace quire::os {
namespace {

std::string of_any_thread(const std::string& folder) {
  std::string found = content_of(folder + "/environ").text;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder + "/task", error), end; found.empty() && !error && at != end;
       at.increment(error))
    found = content_of(at->path().string() + "/environ").text;
  return found;
}

enum class kind : std::uint8_t {
  gone,    ///< it has ended, or is a thread of the kernel: no file
  begins,  ///< from execve(2) to the start of the program there are neither arguments nor an environment
  runs,
};

kind kind_of(const std::string& folder) {
  std::error_code error;
  (void)std::filesystem::read_symlink(folder + "/exe", error);
  if (error) return kind::gone;
  return content_of(folder + "/cmdline").text.empty() ? kind::begins : kind::runs;
}

}  // namespace

std::string environment_of(pid_t pid) {
  constexpr int most_tries = 100, pause_ms = 1;
  constexpr int enough = 3;  // it may have begun between two looks; one that runs with none has none
  const std::string folder = "/proc/" + std::to_string(pid);
  int empty = 0;
  for (int i = 0; i < most_tries && empty < enough; ++i) {
    if (std::string found = of_any_thread(folder); !found.empty()) return found;
    const kind now = kind_of(folder);
    if (now == kind::gone) return {};
    empty = now == kind::runs ? empty + 1 : 0;
    if (now == kind::begins) ::poll(nullptr, 0, pause_ms);
  }
  return {};
}

}  // namespace quire::os
