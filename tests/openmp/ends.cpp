// SPDX-License-Identifier: BSD-3-Clause
// Ways in which a program with OpenMP does not end well, in a region, on the last of its threads, or on another one:
// `ends HOW [THREAD]`.
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace {

volatile int g_zero = 0;
volatile sig_atomic_t g_handled = 0;
void on_signal(int number) { g_handled = number == SIGUSR1; }

void fork_in_region() {
  const pid_t child = fork();
  int status = 0;
  if (child == 0) {
    ++g_zero;  // of the child's own memory, it thinks
    _exit(0);
  }
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) abort();
}

/// All memory that there is, in large blocks and then in small ones; nothing of it is lost by the failure.
void exhaust() {
  std::vector<std::pair<char*, std::size_t>> blocks;
  blocks.reserve(100'000);
  for (std::size_t bytes = std::size_t{1} << 28; bytes >= 1 << 16; bytes /= 4) {
    while (char* const at = static_cast<char*>(malloc(bytes))) {
      at[0] = at[bytes - 1] = static_cast<char>(blocks.size());
      blocks.emplace_back(at, bytes);
    }
  }
  int wrong = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    wrong +=
        blocks[i].first[0] != static_cast<char>(i) || blocks[i].first[blocks[i].second - 1] != static_cast<char>(i);
  for (const auto& one : blocks) free(one.first);
  void* const again = malloc(1 << 20);
  std::printf("blocks until there was no memory: %s, wrong %d, memory afterwards: %s\n",
              blocks.size() > 1 ? "some" : "none", wrong, again != nullptr ? "yes" : "no");
  free(again);
}

void end(std::string_view how) {
  if (how == "crash") *static_cast<volatile int*>(nullptr) = 1;
  if (how == "divide") g_zero = 17 / g_zero;
  if (how == "abort") abort();
  if (how == "throw") throw std::runtime_error("nobody catches this");
  if (how == "kill") raise(SIGKILL);
  if (how == "terminate") raise(SIGTERM);
  if (how == "handled") {
    raise(SIGUSR1);
    std::printf("handled: %d\n", static_cast<int>(g_handled));
  }
  if (how == "daemon" && daemon(1, 1) == 0) std::printf("a daemon\n");
  if (how == "fork") fork_in_region();
  if (how == "exec") execl("/bin/sh", "sh", "-c", "sleep 30", nullptr);
  if (how == "exhaust") exhaust();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  signal(SIGUSR1, on_signal);
  const int who = argc > 2 ? std::atoi(argv[2]) : -1;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
#pragma omp parallel
  {
#pragma omp barrier
    if (omp_get_thread_num() == (who >= 0 ? who : omp_get_num_threads() - 1)) end(how);
#pragma omp barrier
  }
  std::printf("the end\n");
  return 0;
}
