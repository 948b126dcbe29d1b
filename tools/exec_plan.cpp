// SPDX-License-Identifier: BSD-3-Clause
#include "exec_plan.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "bootstrap/launcher/launcher.hpp"
#include "bootstrap/launcher/misspelt.hpp"
#include "program/posix/threads/placement.hpp"
#include "other_run_times.hpp"

namespace quire::tools {
namespace {

using bootstrap::launcher::cannot_execute;
using bootstrap::launcher::command_not_found;
using bootstrap::launcher::launcher_failed;

constexpr std::size_t most_listed = 8;

exec_plan refusal(int status, std::string why) { return {status, std::move(why), {}, {}}; }

bool is_file(const std::string& path) {
  struct stat about;
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode);
}

/// The loader preloads nothing into a program that gains rights by its start, and the system gives it random addresses,
/// whoever starts it.
bool gains_rights(const std::string& path) {
  struct stat about;
  if (::stat(path.c_str(), &about) != 0) return false;
  return (about.st_mode & S_ISUID) != 0 || (about.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
}

bool is_self(const std::string& path) {
  std::error_code error;
  return std::filesystem::equivalent(path, "/proc/self/exe", error);
}

/// Why a file that can be executed gets nothing from `quire exec`, whatever the user asks for; empty if it can.
std::string hindrance(const std::string& path, const elf_answer& answer) {
  if (answer.trouble == elf_trouble::script)
    return path + " is a script: write `quire exec` in it, before the program with OpenMP";
  if (!answer.file) return path + " " + answer.why;
  const elf_file& file = *answer.file;
  if (file.what == elf_file::form::library) return path + " is a library, not a program";
  if (file.is_static)
    return path +
           " is linked statically: Quire cannot stand in for an OpenMP runtime that is part of the program (link it "
           "without -static)";
  if (const auto why = other_run_time(file); !why.empty()) return path + " " + why;
  if (is_self(path)) return path + " is Quire's command: write the program there";
  if (links_quire(file)) return path + " is linked with Quire: start it without `quire exec`";
  if (gains_rights(path))
    return path +
           " is set-user-ID or set-group-ID: its addresses are random, and the loader ignores what Quire preloads "
           "(chmod ug-s)";
  return {};
}

/// The loader takes spaces and colons for the end of a name, and knows no other way to write them.
const std::string* unspeakable(const std::vector<std::string>& paths) {
  const auto found =
      std::find_if(paths.begin(), paths.end(), [](const auto& path) { return path.find_first_of(" :") != path.npos; });
  return found == paths.end() ? nullptr : &*found;
}

}  // namespace

std::string program_path(const std::string& program) {
  if (program.find('/') != program.npos) return program;
  const char* const set = std::getenv("PATH");
  std::string_view rest = set != nullptr ? set : "/bin:/usr/bin";
  std::string not_executable;
  for (bool more = !program.empty(); more;) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, end));
    more = end < rest.size();
    rest.remove_prefix(more ? end + 1 : end);
    const std::string path = (folder.empty() ? "." : folder) + "/" + program;
    if (!is_file(path)) continue;
    if (::access(path.c_str(), X_OK) == 0) return path;
    if (not_executable.empty()) not_executable = path;
  }
  return not_executable;
}

bool is_for_exec(const std::string& program) {
  const std::string path = program_path(program);
  if (path.empty()) return false;
  const auto answer = read_elf(path);
  if (!answer.file || answer.file->is_static || links_quire(*answer.file) || is_self(path)) return false;
  return !openmp_of(*answer.file).runtimes.empty() || is_for_threads(path, *answer.file) ||
         !openmp_libraries_of(path, *answer.file).empty();
}

bool uses_quire(const std::string& program) {
  const std::string path = program_path(program);
  const auto answer = path.empty() ? elf_answer{} : read_elf(path);
  return answer.file && links_quire(*answer.file);
}

std::string why_no_copies(const std::string& program) {
  const std::string path = program_path(program);
  if (path.empty() || ::access(path.c_str(), X_OK) != 0) return {};
  const auto answer = read_elf(path);
  const bool meant = answer.file ? answer.file->is_static && contains_runtime(path) : is_bad_elf(answer.trouble);
  return meant ? hindrance(path, answer) : std::string();
}

std::string why_unreadable(const std::string& program) {
  const std::string path = program_path(program);
  if (path.empty() || !is_file(path) || ::access(path.c_str(), X_OK) != 0 || ::access(path.c_str(), R_OK) == 0)
    return {};
  return path +
         " may be executed and not read, so that Quire cannot see what it is linked with: make it readable (chmod +r), "
         "or give --copies, if it is linked with Quire";
}

std::string wrong_place(const std::string& text) {
  if (program::placement_of(text)) return {};
  return text + ": least, round, blocks:N with a number N of threads, or here";
}

std::vector<std::string> exec_words(const std::string& memory, const std::string& place) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::vector<std::string> words{error ? "quire" : self.string(), "exec"};
  rlimit stack;
  if (::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != standard_stack_bytes)
    words.insert(words.end(),
                 {"--stack", stack.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(stack.rlim_cur)});
  if (!memory.empty()) words.insert(words.end(), {"--memory", memory});
  if (!place.empty()) words.insert(words.end(), {"--place", place});
  return words;
}

exec_plan plan_exec(const std::string& program, bool any) {
  const std::string path = program_path(program);
  struct stat about;
  if (path.empty()) return refusal(command_not_found, bootstrap::launcher::cannot_run_text(program, ENOENT));
  if (::stat(path.c_str(), &about) != 0)
    return refusal(errno == ENOENT ? command_not_found : cannot_execute,
                   bootstrap::launcher::cannot_run_text(program, errno));
  if (S_ISDIR(about.st_mode)) return refusal(cannot_execute, path + " is a directory");
  if (::access(path.c_str(), X_OK) != 0)
    return refusal(cannot_execute, bootstrap::launcher::cannot_run_text(path, errno));

  const auto answer = read_elf(path);
  if (const auto why = hindrance(path, answer); !why.empty()) return refusal(cannot_execute, why);
  const auto own = openmp_libraries_of(path, *answer.file);
  const bool has_openmp =
      !own.empty() || !openmp_of(*answer.file).runtimes.empty() || (any && calls_openmp(path, *answer.file));
  if (!has_openmp && !makes_threads(*answer.file) && !any) {
    const std::string missing = missing_library_of(path);
    if (!missing.empty())
      return refusal(
          cannot_execute,
          fmt::format("{} needs {}, which is not found here (LD_LIBRARY_PATH, or an rpath, tells where it is)", path,
                      missing));
    return refusal(cannot_execute, path +
                                       " needs no OpenMP runtime, and makes no threads: its nodes would have nothing "
                                       "to do (--any starts it all the same)");
  }
  std::string why;
  const auto libraries = find_openmp_libraries(why);
  if (!libraries) return refusal(launcher_failed, why);
  for (std::size_t i = 0; i <= own.size(); ++i) {  // the program, and then its libraries
    const std::string& who = i == 0 ? path : own[i - 1].path;
    const auto lack = lacking(i == 0 ? *answer.file : own[i - 1].file, *libraries, why);
    if (!lack) return refusal(launcher_failed, why);
    if (!lack->versions.empty() && !any)
      return refusal(cannot_execute, fmt::format("{} needs {}, which is newer than this Quire", who,
                                                 listed(lack->versions, most_listed)));
    if (!lack->functions.empty() && !any)
      return refusal(cannot_execute,
                     fmt::format("{} calls functions of OpenMP that this Quire lacks: {} (`quire info {}` lists all)",
                                 who, listed(lack->functions, most_listed), who));
  }
  auto preload = libraries->in_order();
  if (const auto* bad = unspeakable(preload))
    return refusal(launcher_failed,
                   *bad + " cannot be preloaded: its name has a space or a colon; move Quire to another folder");
  return {0, {}, path, std::move(preload), !has_openmp, has_own_malloc(*answer.file)};
}

}  // namespace quire::tools
