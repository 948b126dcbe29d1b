// SPDX-License-Identifier: BSD-3-Clause
// pair PROGRAM ARGUMENTS: starts a floor program as two processes, as bare as can be, and waits for them: the
// counterpart of `quire run -n 2` for programs without Quire. Both inherit one end of a socket pair and a piece of
// shared memory; peer.hpp reads what stands in the environment. When one fails, or the time is up, the other is killed.
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "floor/peer.hpp"

namespace {

constexpr unsigned most_seconds = 120;
volatile pid_t children[2] = {0, 0};

void kill_children() {
  for (const pid_t child : children)
    if (child > 0) ::kill(child, SIGKILL);
}

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  kill_children();
  std::exit(1);
}

/// What UCX reads while it is loaded: the settings of Quire's transport.
void set_ucx_environment() {
  ::setenv("UCX_HANDLE_ERRORS", "none", 0);
  ::setenv("UCX_MEM_EVENTS", "n", 0);
  ::setenv("UCX_VFS_ENABLE", "n", 0);
  ::setenv("UCX_LOG_LEVEL", "fatal", 0);
}

pid_t start(int node, int socket, int other_socket, int memory, char** command) {
  const pid_t launcher = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) fail("pair: fork");
  if (child > 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(1);
  ::close(other_socket);
  ::setenv(bench::node_variable, std::to_string(node).c_str(), 1);
  ::setenv(bench::socket_variable, std::to_string(socket).c_str(), 1);
  ::setenv(bench::memory_variable, std::to_string(memory).c_str(), 1);
  ::execv(command[0], command);
  std::fprintf(stderr, "pair: cannot run %s: %s\n", command[0], std::strerror(errno));
  ::_exit(127);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], "--help") == 0) {
    std::printf(
        "Usage: pair PROGRAM ARGUMENTS\n"
        "Starts PROGRAM (a path) twice, as the two sides of a floor benchmark, for at most %u s.\n",
        most_seconds);
    return argc < 2 ? 2 : 0;
  }
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) fail("pair: socketpair");
  const int memory = ::memfd_create("pair", 0);
  if (memory < 0 || ::ftruncate(memory, bench::shared_bytes) != 0) fail("pair: memfd");
  set_ucx_environment();
  for (int node = 0; node < 2; ++node) children[node] = start(node, sockets[node], sockets[1 - node], memory, argv + 1);
  ::close(sockets[0]);
  ::close(sockets[1]);

  ::signal(SIGALRM, [](int) {
    kill_children();
    constexpr char text[] = "pair: time is up\n";
    (void)!::write(2, text, sizeof text - 1);
    ::_exit(124);
  });
  ::alarm(most_seconds);
  int result = 0;
  for (int ended = 0; ended < 2;) {
    int status = 0;
    const pid_t child = ::wait(&status);
    if (child < 0) fail("pair: wait");
    ++ended;
    children[child == children[0] ? 0 : 1] = 0;
    if (status == 0 || result != 0) continue;
    result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    kill_children();
  }
  return result;
}
