// SPDX-License-Identifier: BSD-3-Clause
#include "memory_fact.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <sstream>

#include "exec_plan.hpp"
#include "openmp/sites/known_libraries.hpp"
#include "openmp/sites/look.hpp"
#include "os/process.hpp"

namespace quire::tools {
namespace {

namespace sites = openmp::sites;

constexpr const char* linker = "/lib64/ld-linux-x86-64.so.2";
constexpr std::size_t most_text = 1u << 20;

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> part;
  while (text.size() < most_text) {
    const ssize_t bytes = ::read(from, part.data(), part.size());
    if (bytes > 0) text.append(part.data(), static_cast<std::size_t>(bytes));
    else if (bytes == 0 || errno != EINTR) break;
  }
  return text;
}

/// What a command writes. False if it cannot be run, or fails.
bool output_of(std::vector<std::string> words, std::string& text) {
  auto pipe = os::make_pipe();
  if (!pipe.ok()) return false;
  auto ends = std::move(pipe.value());
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends.second.number(), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, words[0].c_str(), &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ends.second.reset();
  if (error != 0) return false;
  text = read_all(ends.first.number());
  ends.first.reset();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

bool libraries_of(const std::string& path, std::vector<std::string>& into) {
  std::string text;
  const std::string file = path.find('/') == path.npos ? "./" + path : path;
  if (!output_of({linker, "--list", file}, text)) return false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {  // "	libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f...)", "	/lib64/ld-linux... (0x...)"
    const std::size_t first = line.find('/'), end = line.rfind(" (0x");
    if (line.find("not found") != line.npos) return false;
    if (first != line.npos && end != line.npos && first < end) into.push_back(line.substr(first, end - first));
  }
  return true;
}

memory_fact memory_for(const std::string& path) {
  const auto sequential = [](const std::string& why) { return memory_fact{sequential_memory, "sequential, as " + why}; };
  std::string why;
  const sites::decoder* const by = sites::decoder::open(why);
  if (by == nullptr) return sequential(why);
  std::vector<sites::file_code> files;
  files.push_back(sites::look_at(*by, path.c_str(), "the program"));
  std::vector<std::string> libraries;
  if (!libraries_of(path, libraries)) return sequential("its libraries cannot be found");
  for (const auto& one : libraries) {
    const char* const name = sites::last_part(one.c_str());
    if (!sites::is_of_a_compiler(name)) files.push_back(sites::look_at(*by, one.c_str(), name));
  }
  const auto v = sites::decide(files, sites::can_watch);
  return v.mixed ? memory_fact{mixed_memory, "mixed, as " + v.why} : sequential(v.why);
}

}  // namespace quire::tools
