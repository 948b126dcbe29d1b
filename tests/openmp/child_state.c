/* SPDX-License-Identifier: BSD-3-Clause */
// A child of vfork(2), of a thread of any node, sets its own working directory and mask, and those of no node.
#include <limits.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { threads = 4 };

static char said[20000];
static size_t said_length = 0;
static void say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  said_length += vsnprintf(said + said_length, sizeof said - said_length, format, arguments);
  va_end(arguments);
}

/// What the child finds: bit by bit what is as it should be.
static int try_in_child(int opened) {
  char found[PATH_MAX];
  int good = chdir("/usr") == 0;
  if (getcwd(found, sizeof found) != NULL && strcmp(found, "/usr") == 0) good |= 2;
  if (umask(077) == 027) good |= 4;
  if (umask(077) == 077) good |= 8;
  if (fchdir(opened) != 0) good |= 16;  // no such number
  if (chdir("none of these") != 0) good |= 32;
  return good;
}

static void show(int i) {
  char found[PATH_MAX];
  const mode_t mask = umask(027);
  say("thread %d: in %s, mask %o, children in /: %d\n", i, getcwd(found, sizeof found), (unsigned)mask,
      system("[ \"$(pwd)\" = / ]"));
}

int main(void) {
  chdir("/");
  umask(027);
#pragma omp parallel for ordered schedule(static, 1) num_threads(threads)
  for (int i = 0; i < threads; ++i) {
#pragma omp ordered
    {
      const pid_t child = vfork();
      if (child == 0) _exit(try_in_child(900));
      int status = -1;
      if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) abort();
      say("thread %d: %d\n", i, WEXITSTATUS(status));
    }
  }
#pragma omp parallel for ordered schedule(static, 1) num_threads(threads)
  for (int i = 0; i < threads; ++i) {
#pragma omp ordered
    show(i);
  }
  fputs(said, stdout);
  return 0;
}
