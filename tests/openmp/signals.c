/* SPDX-License-Identifier: BSD-3-Clause */
// A handler of the program is called all the time: while regions begin and end, while pages of its thread's stack are
// on other nodes, and while the job ends.
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile sig_atomic_t ticks;
static void on_alarm(int number) { ticks += number == SIGALRM; }

int main(void) {
  struct sigaction action = {0};
  action.sa_handler = on_alarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &often, NULL);
  double sum = 0;
  for (int round = 0; round < 300; ++round) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 10000; ++i) sum += i;
  }
  while (ticks == 0) {
  }
  printf("%.0f\n", sum);
  return 0;
}
