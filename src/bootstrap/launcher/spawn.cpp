// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/spawn.hpp"

#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/options.hpp"
#include "os/process_mark.hpp"

namespace quire::bootstrap::launcher {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (auto& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

/// In the child, until it is the program.
[[noreturn]] void become_node(const start_of_job& job, const start_of_node& node, pid_t launcher,
                              const std::string& mark) {
  const auto failed = [&](int error) {
    const start_failure failure{node.node, error};
    [[maybe_unused]] const auto told = ::write(job.report, &failure, sizeof failure);
    ::_exit(127);
  };
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(127);  // it died before the line above
  if (node.own_group) ::setpgid(0, 0);
  // Refused in some containers; quire_spawn() finds functions without it, too.
  if (const int old = ::personality(0xffffffff); old != -1)
    ::personality(static_cast<unsigned long>(old) | ADDR_NO_RANDOMIZE);
  ::setrlimit(RLIMIT_NOFILE, &job.descriptors);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  const int streams[] = {node.input, node.out, node.err};
  for (int number = 0; number < 3; ++number)
    if (streams[number] >= 0 && ::dup2(streams[number], number) < 0) failed(errno);
  if (!os::set_close_on_exec(node.control, false).ok()) failed(errno);

  auto environment = job.environment;
  const auto tell = [&](const char* name, int value) { environment.push_back(name + ("=" + std::to_string(value))); };
  tell(base::job_descriptor_variable, node.control);
  tell(base::job_node_variable, node.node);
  tell(base::job_nodes_variable, node.nodes);
  tell(base::job_local_variable, node.local_nodes);
  environment.push_back(base::launcher_variable + ("=" + mark));
  auto command = job.command;
  ::sigprocmask(SIG_SETMASK, &job.signals, nullptr);
  ::execvpe(command[0].c_str(), pointers_to(command).data(), pointers_to(environment).data());
  failed(errno);
  ::_exit(127);
}

}  // namespace

std::vector<std::string> environment_with(std::span<const std::pair<std::string, std::string>> settings) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = name_of(*entry);
    const bool place =
        std::find(base::job_variables.begin(), base::job_variables.end(), name) != base::job_variables.end() ||
        name == base::launcher_variable;
    const bool replaced = std::any_of(settings.begin(), settings.end(), [&](const auto& s) { return s.first == name; });
    if (!place && !replaced) environment.emplace_back(*entry);
  }
  for (const auto& [name, value] : settings) environment.push_back(name + "=" + value);
  return environment;
}

base::result<pid_t> start_helper(const start_of_job& job, const std::vector<std::string>& command, int streams) {
  const pid_t launcher = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return QUIRE_SYSTEM;
  if (pid > 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(127);
  ::setpgid(0, 0);
  ::setrlimit(RLIMIT_NOFILE, &job.descriptors);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  if (::dup2(streams, 0) == 0 && ::dup2(streams, 1) == 1) {
    auto words = command;
    ::sigprocmask(SIG_SETMASK, &job.signals, nullptr);
    ::execvp(words[0].c_str(), pointers_to(words).data());
  }
  const start_failure failure{-1, errno};
  [[maybe_unused]] const auto told = ::write(job.report, &failure, sizeof failure);
  ::_exit(127);
}

base::result<pid_t> start_node(const start_of_job& job, const start_of_node& node) {
  const pid_t launcher = ::getpid();
  const std::string mark = os::own_mark();
  const pid_t pid = ::fork();
  if (pid == 0) become_node(job, node, launcher, mark);
  if (pid < 0) return QUIRE_SYSTEM;
  return pid;
}

}  // namespace quire::bootstrap::launcher
