/* SPDX-License-Identifier: BSD-3-Clause */
/* Children that threads of a region make, and main() waits for in each way, and kills. The last thread waits,
 * too, for a child that main() has made. */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
enum { most = 6 };
static pid_t child[most];

static int start(pid_t* to, const char* command) {
  char* arguments[] = {"sh", "-c", (char*)command, NULL};
  return posix_spawn(to, "/bin/sh", NULL, NULL, arguments, environ);
}

static void tell(const char* how, int right, int status) {
  printf("%s: %d, exited %d, %d\n", how, right, WIFEXITED(status), WEXITSTATUS(status));
}

static void wait_by_number(void) {
  int status = 0;
  pid_t found = waitpid(child[0], &status, 0);
  tell("waitpid", found == child[0], status);
  siginfo_t about;
  memset(&about, 0, sizeof about);
  const int error = waitid(P_PID, (id_t)child[1], &about, WEXITED);
  printf("waitid: %d %d %d %d\n", error, about.si_pid == child[1], about.si_code == CLD_EXITED, about.si_status);
  struct rusage used;
  found = wait4(child[2], &status, 0, &used);
  tell("wait4", found == child[2], status);
  found = waitpid(child[0], &status, 0);
  printf("again: %d %s\n", (int)found, strerror(errno));
}

static void wait_for_all(void) {
  int sum = 0, count = 0, status = 0;
  for (pid_t found; (found = wait(&status)) > 0; ++count) sum += WEXITSTATUS(status);
  printf("wait: %d children, sum %d, then %s\n", count, sum, strerror(errno));
}

static void kill_one(void) {
  int status = 0;
  printf("not yet: %d\n", (int)waitpid(-1, &status, WNOHANG));
  printf("kill: %d\n", kill(child[0], SIGTERM));
  const pid_t found = waitpid(-1, &status, 0);
  printf("killed: %d by %d\n", found == child[0], WTERMSIG(status));
  const int error = kill(child[0], 0);
  printf("gone: %d %s\n", error, strerror(errno));
}

int main(void) {
  int bad = 0;
#pragma omp parallel for schedule(static, 1) reduction(+ : bad)
  for (int i = 0; i < most; ++i) {
    char command[40];
    snprintf(command, sizeof command, "exit %d", 20 + i);
    bad += start(&child[i], command) != 0;
  }
  printf("started: %d\n", bad);
  wait_by_number();
  wait_for_all();
#pragma omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) {
    char* arguments[] = {"sleep", "100", NULL};
    posix_spawnp(&child[0], "sleep", NULL, NULL, arguments, environ);
  }
  kill_one();
  start(&child[0], "exit 3");
#pragma omp parallel
#pragma omp critical
  {
    FILE* const shell = popen("kill -TERM $$; echo signals are blocked", "r");
    char line[80] = "signals are not blocked\n";
    (void)!fgets(line, sizeof line, shell);
    bad += pclose(shell) != SIGTERM || system("kill -TERM $$; exit 5") != SIGTERM;
    fputs(line, stdout);
  }
  printf("ended otherwise: %d\n", bad);
#pragma omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) {
    int status = 0;
    const pid_t found = waitpid(child[0], &status, 0);
    tell("waited elsewhere", found == child[0], status);
    const pid_t none = wait(&status);
    printf("no child: %d %s\n", (int)none, strerror(errno));
  }
  return 0;
}
