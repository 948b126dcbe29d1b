// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher/process_state.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <fstream>
#include <vector>

#include "os/process.hpp"

namespace quire::bootstrap::launcher {

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD}) sigaddset(&set, signal);
  struct sigaction now {};
  const bool stops = ::sigaction(SIGTSTP, nullptr, &now) == 0 && now.sa_handler == SIG_DFL;
  if (stops) sigaddset(&set, SIGTSTP);  // else whoever started us does not want Ctrl-Z
  return set;
}

borrowed_process_state::borrowed_process_state() {
  const sigset_t handled = handled_signals();
  ::sigprocmask(SIG_BLOCK, &handled, &mask_);
  quit_ = ::signal(SIGQUIT, SIG_DFL);  // a shell's background job ignores it
  child_ = ::signal(SIGCHLD, SIG_DFL);
  ::getrlimit(RLIMIT_NOFILE, &descriptors_);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

borrowed_process_state::~borrowed_process_state() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  ::setrlimit(RLIMIT_NOFILE, &descriptors_);
  ::signal(SIGCHLD, child_);
  ::signal(SIGQUIT, quit_);
  ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

void open_standard_streams() {
  for (int number = 0; number < 3; ++number)
    if (::fcntl(number, F_GETFD) < 0) [[maybe_unused]]
      const int opened = ::open("/dev/null", O_RDWR);
}

std::string left_behind() {
  constexpr int step_ms = 10, patience_ms = 50;  // what is about to end is not told
  std::vector<pid_t> some;
  for (int waited_ms = 0; waited_ms <= patience_ms; waited_ms += step_ms) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
    if (some = os::children(); some.empty()) return {};
    ::poll(nullptr, 0, step_ms);
  }
  std::string text;
  for (const pid_t pid : some) {
    std::string name;
    std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/comm"), name);
    text += (text.empty() ? "" : ", ") + name + " (pid " + std::to_string(pid) + ")";
  }
  return text +
         ": what the nodes leave running ends with the job; let them wait for it (in a shell: wait; not: program &)";
}

// Their own children come to us in turn.
bool sweep_orphans() {
  constexpr int step_ms = 10, patience_ms = 1000, limit_ms = 5000;
  for (int waited_ms = 0; waited_ms < limit_ms; waited_ms += step_ms) {
    pid_t pid;
    while ((pid = ::waitpid(-1, nullptr, WNOHANG)) > 0) continue;
    if (pid < 0) return true;
    if (waited_ms == 0 || waited_ms >= patience_ms)
      for (const pid_t child : os::children()) ::kill(child, waited_ms == 0 ? SIGTERM : SIGKILL);
    ::poll(nullptr, 0, step_ms);
  }
  return false;
}

}  // namespace quire::bootstrap::launcher
