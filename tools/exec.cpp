// SPDX-License-Identifier: BSD-3-Clause
// `quire exec`: becomes a program with OpenMP, or with threads of its own, with Quire's runtime in the place of the one
// that it was linked with, and of pthreads', and with the same layout of its address space on all nodes.
#include <fmt/core.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/launcher/launcher.hpp"
#include "bootstrap/launcher/misspelt.hpp"
#include "commands.hpp"
#include "exec_environment.hpp"
#include "exec_plan.hpp"
#include "exec_settings.hpp"
#include "os/process.hpp"
#include "os/program_file.hpp"
#include "place_program.hpp"

namespace quire::tools {
namespace {

using bootstrap::launcher::cannot_execute;
using bootstrap::launcher::launcher_failed;

constexpr rlim_t least_stack_bytes = rlim_t{64} << 10;
/// For "unlimited", which would turn the address space's layout over.
constexpr rlim_t ample_stack_bytes = rlim_t{1} << 30;

struct exec_arguments {
  bool any = false;
  bool openmp = false;
  std::string stack;
  std::string memory = sequential_memory;
  std::string place;
};

int refuse(int status, const std::string& why) {
  fmt::print(stderr, "quire exec: {}\n", why);
  return status;
}

/// "64M", "unlimited". Nothing if it is no size.
std::optional<rlim_t> size_of(const std::string& text) {
  if (text == "unlimited") return ample_stack_bytes;
  rlim_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest == text.data()) return std::nullopt;
  int shift = 0;
  if (rest != end) {
    constexpr std::string_view units = "KMGT";
    const auto unit = units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(*rest))));
    if (unit == units.npos || rest + 1 != end) return std::nullopt;
    shift = 10 * (static_cast<int>(unit) + 1);
  }
  if (number > (RLIM_INFINITY >> 1) >> shift) return std::nullopt;
  return number << shift;
}

/// Sets the soft limit; what it was in `before`. False with a sentence in `why`.
bool limit_stack(const std::string& asked, std::string& before, std::string& why) {
  rlimit limit;
  if (::getrlimit(RLIMIT_STACK, &limit) != 0)
    return why = "cannot read the stack's limit: " + os::error_text(errno), false;
  before = limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur);
  rlim_t wanted = std::min(standard_stack_bytes, limit.rlim_max);
  if (!asked.empty()) {
    const auto size = size_of(asked);
    if (!size || *size < least_stack_bytes)
      return why = fmt::format("--stack {}: a size of at least 64K, as 64M, or unlimited", asked), false;
    if (*size > limit.rlim_max)
      return why = fmt::format("--stack {}: here the hard limit is {} bytes (ulimit -Hs)", asked, limit.rlim_max),
             false;
    wanted = *size;
  }
  limit.rlim_cur = wanted;
  if (::setrlimit(RLIMIT_STACK, &limit) != 0)
    return why = "cannot set the stack's limit: " + os::error_text(errno), false;
  return true;
}

bool never_randomised() {
  int how = -1;
  std::ifstream("/proc/sys/kernel/randomize_va_space") >> how;
  return how == 0;
}

/// All nodes must have the program and its libraries at the same addresses. False where the system does not give them.
bool fix_addresses() {
  const int old = ::personality(0xffffffff);
  if (old != -1 && (old & ADDR_NO_RANDOMIZE) != 0) return true;
  if (old != -1 && ::personality(static_cast<unsigned long>(old) | ADDR_NO_RANDOMIZE) != -1) return true;
  return never_randomised();
}

/// The dynamic linker takes $ORIGIN from /proc/self/exe, which is not the program where `quire exec` maps it.
std::string origin_folders(const std::string& path) {
  const auto linkage = os::linkage_of(path);
  if (!linkage) return "";
  std::string folders = linkage->runpath.empty() ? linkage->rpath : linkage->runpath;
  if (folders.find("ORIGIN") == folders.npos) return "";
  const std::string origin = path.substr(0, path.rfind('/'));
  for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"})
    for (auto at = folders.find(word); at != folders.npos; at = folders.find(word))
      folders.replace(at, word.size(), origin);
  return folders;
}

/// Becomes the program where the system gives it no fixed addresses; why not, else.
std::string become_by_own_means(const std::string& path, char** arguments) {
  rlimit limit{};
  ::getrlimit(RLIMIT_STACK, &limit);
  ::setenv(exec_file_variable, path.c_str(), 1);
  return fmt::format(
      "addresses would be random, and those of nodes would differ: personality(ADDR_NO_RANDOMIZE) was refused, as some "
      "containers do, and {} cannot be placed by `quire exec` itself: {}. Allow it (docker run --security-opt "
      "seccomp=unconfined), or set kernel.randomize_va_space to 0",
      path, place_program(path, arguments, std::min(limit.rlim_cur, ample_stack_bytes)));
}

int exec(const CLI::App& command, const exec_arguments& asked, const std::vector<std::string>& after_dashes) {
  std::vector<std::string> words = command.remaining();
  if (!words.empty() && words[0].starts_with('-'))
    return refuse(launcher_failed, unknown_option_text(command, "exec", words[0]));
  const std::ptrdiff_t ours =
      words.empty() && !after_dashes.empty() ? 1 : 0;  // the first "--" ends this command's options
  words.insert(words.end(), after_dashes.begin() + ours, after_dashes.end());
  if (words.empty() || words[0].empty())
    return refuse(launcher_failed, "which program? For example: quire exec ./program arguments");

  auto plan = plan_exec(words[0], asked.any || asked.openmp);
  if (asked.openmp) plan.places_threads = false;
  if (plan.status != 0) return refuse(plan.status, plan.why);
  if (!plan.places_threads && !asked.place.empty())
    return refuse(launcher_failed, "--place is for threads of programs without OpenMP; those that " + plan.path +
                                       " makes itself stay where they are made");
  std::string why, stack_before;
  const bool fixed = fix_addresses();
  if (!limit_stack(asked.stack, stack_before, why)) return refuse(launcher_failed, why);
  ::unsetenv(exec_place_variable);
  asked.openmp ? ::setenv(exec_code_variable, "1", 1) : ::unsetenv(exec_code_variable);
  ::unsetenv(exec_file_variable);
  ::unsetenv(exec_library_path_variable);
  std::string path = plan.path, more_folders;
  if (!fixed) {
    std::error_code error;
    path = std::filesystem::canonical(plan.path, error).string();
    if (error) return refuse(launcher_failed, bootstrap::launcher::cannot_run_text(plan.path, error.value()));
    more_folders = origin_folders(path);
  }
  for (const auto& [name, value] : settings_for(plan, stack_before, asked.memory, asked.place, more_folders))
    ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  if (!fixed) return refuse(launcher_failed, become_by_own_means(path, pointers.data()));
  ::execv(plan.path.c_str(), pointers.data());
  return refuse(cannot_execute, bootstrap::launcher::cannot_run_text(plan.path, errno));
}

constexpr const char* exec_footer =
    "PROGRAM is an executable that gcc, clang or gfortran has linked with OpenMP, or that makes threads itself "
    "(pthreads,\n"
    "std::thread), as it is. It needs a launcher for more than one node; `quire run` writes `quire exec` before such "
    "programs by itself:\n"
    "  quire run -n 4 ./program arguments\n"
    "  srun --mpi=pmix quire exec ./program arguments\n\n"
    "Exit status: the program's; 125: wrong use, or something of Quire or this machine is missing; 126: the program "
    "cannot\n"
    "be run so; 127: not found.";

class exec_formatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: quire exec [OPTIONS] PROGRAM [ARGUMENTS...]\n";
  }
};

}  // namespace

void add_exec(CLI::App& quire, session& about) {
  auto* command = quire.add_subcommand("exec", "Become a program with OpenMP or with threads, as one node of a job");
  const auto asked = std::make_shared<exec_arguments>();
  command->formatter(std::make_shared<exec_formatter>());
  command->prefix_command();
  command->footer(exec_footer);
  command->add_flag("--any", asked->any, "Also a program without OpenMP, or one that calls what Quire lacks");
  command->add_flag(
      "--openmp", asked->openmp,
      "Threads of OpenMP's regions are on all nodes though the program has none itself: libraries have "
      "that it loads as it runs, as Python's do, and these may compile code. Threads that it makes itself stay "
      "where they are made");
  command->add_option("--stack", asked->stack, "Soft limit of the stack, the same on all nodes (default: 8M)")
      ->type_name("SIZE");
  command->add_option("--place", asked->place, place_help)->type_name("HOW")->check(CLI::Validator(wrong_place, ""));
  command->add_option("--memory", asked->memory, memory_help)
      ->check(CLI::IsMember({sequential_memory, mixed_memory, automatic_memory}));
  command->callback([command, asked, &about] {
    about.command = [&about, command, asked] { return exec(*command, *asked, about.after_dashes); };
  });
}

}  // namespace quire::tools
