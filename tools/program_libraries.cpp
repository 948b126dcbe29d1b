// SPDX-License-Identifier: BSD-3-Clause
#include "program_libraries.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>

#include "program/sites/known_libraries.hpp"
#include "os/process.hpp"

namespace quire::tools {
namespace {

constexpr const char* linker = "/lib64/ld-linux-x86-64.so.2";
constexpr std::size_t most_text = 1u << 20;

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> part;
  while (text.size() < most_text) {
    const ssize_t bytes = ::read(from, part.data(), part.size());
    if (bytes > 0)
      text.append(part.data(), static_cast<std::size_t>(bytes));
    else if (bytes == 0 || errno != EINTR)
      break;
  }
  return text;
}

/// What a command writes, with one more variable in its environment. False if it cannot be run, or fails.
bool output_of(std::vector<std::string> words, std::string variable, std::string& text) {
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
  std::vector<char*> variables{variable.data()};
  for (char** one = environ; *one != nullptr; ++one) variables.push_back(*one);
  variables.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, words[0].c_str(), &actions, nullptr, pointers.data(), variables.data());
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

/// As ldd(1) does, which goes on where a library is missing.
bool list(const std::string& path, std::string& text) {
  return output_of({linker, path.find('/') == path.npos ? "./" + path : path}, "LD_TRACE_LOADED_OBJECTS=1", text);
}

}  // namespace

std::string missing_library_of(const std::string& path) {
  std::string text;
  if (!list(path, text)) return {};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {  // "	libnone.so => not found"
    const std::size_t first = line.find_first_not_of(" \t"), end = line.find(" => not found");
    if (end != line.npos && first < end) return line.substr(first, end - first);
  }
  return {};
}

bool libraries_of(const std::string& path, std::vector<std::string>& into) {
  std::string text;
  if (!list(path, text)) return false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {  // "	libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6
                                                        // (0x00007f...)", "	/lib64/ld-linux... (0x...)"
    const std::size_t first = line.find('/'), end = line.rfind(" (0x");
    if (line.find("not found") != line.npos) return false;
    if (first != line.npos && end != line.npos && first < end) into.push_back(line.substr(first, end - first));
  }
  return true;
}

std::vector<own_library> own_libraries_of(const std::string& program) {
  namespace sites = program::sites;
  std::vector<std::string> all;
  if (!libraries_of(program, all)) return {};
  std::vector<own_library> own;
  for (const auto& path : all) {
    if (sites::is_in_system_folder(path.c_str()) || sites::is_of_a_compiler(sites::last_part(path.c_str())) ||
        sites::is_of_an_allocator(sites::last_part(path.c_str())))
      continue;
    if (auto answer = read_elf(path); answer.file) own.push_back({path, std::move(*answer.file)});
  }
  return own;
}

}  // namespace quire::tools
