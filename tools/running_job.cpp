// SPDX-License-Identifier: BSD-3-Clause
#include "running_job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "os/file_content.hpp"
#include "top/view.hpp"

namespace quire::tools {
namespace {

using bootstrap::launcher::found_job;

constexpr std::size_t longest_command = 200;  // characters, of a job that can be chosen

std::string command_of(pid_t pid) {
  std::string words = os::content_of("/proc/" + std::to_string(pid) + "/cmdline").text;
  while (!words.empty() && words.back() == '\0') words.pop_back();
  for (char& c : words)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return words;
}

}  // namespace

std::optional<found_job> find_running_job(int pid, const std::string& command, std::string& why) {
  const auto all = bootstrap::launcher::find_jobs();
  if (pid != 0) {
    const auto is_meant = [pid](const found_job& j) { return j.pid == pid; };
    // Anybody can take a name: that of the user's own job comes first.
    auto found = std::ranges::find_if(all, [&](const found_job& j) { return is_meant(j) && j.user == ::geteuid(); });
    if (found == all.end()) found = std::ranges::find_if(all, is_meant);
    if (found != all.end()) return *found;
    why = fmt::format(
        "there is no job {} on this machine: the number is that of its `quire run`, and `quire top` without one lists "
        "those of yours",
        pid);
    return std::nullopt;
  }
  std::vector<found_job> mine;
  std::ranges::copy_if(all, std::back_inserter(mine), [](const found_job& j) { return j.user == ::geteuid(); });
  if (mine.size() == 1) return mine.front();
  if (mine.empty()) {
    why = fmt::format("no job of yours runs on this machine: `quire {}` finds those that `quire run` has started here",
                      command);
    return std::nullopt;
  }
  why = fmt::format("which job? Write its number behind `quire {}`:", command);
  for (const found_job& j : mine)
    why += fmt::format("\n  {}  {}", j.pid, top::for_terminal(command_of(j.pid), longest_command));
  return std::nullopt;
}

}  // namespace quire::tools
