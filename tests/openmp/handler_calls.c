/* SPDX-License-Identifier: BSD-3-Clause */
// A handler that makes calls of files comes all the time while its thread makes such calls itself; and while it holds a
// stream, and waits for what the handler writes.
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { threads = 4, calls = 4000, least = 100, more_than_a_page = 8192 };

static int log_ends[2], ends[2], null;
static volatile sig_atomic_t ticks, bad;
static void on_alarm(int number) {
  char one = 'x';
  struct stat about;
  if (write(log_ends[1], &one, 1) != 1) bad = 1;
  if (fstat(log_ends[0], &about) != 0) bad = 2;
  if (read(log_ends[0], &one, 1) != 1 || one != 'x') bad = 3;
  if (chdir("/") != 0) bad = 4;
  ticks += number == SIGALRM;
}
static volatile sig_atomic_t answers;
static void on_user(int number) {
  if (write(ends[1], "an answer\n", 10) != 10) bad = 5;
  answers += number == SIGUSR1;
}

static void set(void (*handler)(int), int number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, NULL);
}

int main(void) {
  if (pipe(log_ends) != 0 || pipe(ends) != 0 || (null = open("/dev/null", O_WRONLY)) < 0) return 1;
  static char large[more_than_a_page];
  int failed = 0, held = 0;
  // The first thread of the last node: to others no signal of the process comes.
  const int nodes = getenv("NODES") != NULL ? atoi(getenv("NODES")) : 1;
  const int who = threads / nodes * (nodes - 1);
#pragma omp parallel num_threads(threads)
  if (omp_get_thread_num() == who) {
    set(on_alarm, SIGALRM);
    set(on_user, SIGUSR1);
    // One signal after the other, each at another place of what the thread does: it must not come before the last one's
    // handler has ended.
    for (int i = 0; i < calls; ++i) {
      const struct itimerval next = {{0, 0}, {0, 1 + 37 * i % 200}};
      if (i % 4 == 0) setitimer(ITIMER_REAL, &next, NULL);
      failed |= write(null, "text", 4) != 4;
      failed |= write(null, large, sizeof large) != sizeof large;
      if (i % 100 == 0) failed |= chdir("/tmp") != 0;
    }
    for (const struct itimerval soon = {{0, 0}, {0, 1}}; ticks < least; usleep(500))
      setitimer(ITIMER_REAL, &soon, NULL);
    // Its clerk is the thread's own now, and in a call when the handler comes.
    FILE* const in = fdopen(ends[0], "r");
    char line[100] = "";
    flockfile(in);
    const struct itimerval once = {{0, 0}, {0, 50000}};
    set(on_user, SIGALRM);
    setitimer(ITIMER_REAL, &once, NULL);
    held = fgets(line, sizeof line, in) != NULL && strcmp(line, "an answer\n") == 0;
    funlockfile(in);
  }
  printf("failed %d, bad %d, enough %d, held %d\n", failed, (int)bad, ticks >= least, held);
  return 0;
}
