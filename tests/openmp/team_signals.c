/* SPDX-License-Identifier: BSD-3-Clause */
/* pthread_kill(3) to each thread of a team, from its first one: the thread's handler runs, once for each signal. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { most = 64, rounds = 5 };
static pthread_t threads[most];
static int got[most], queued[most], wrong;
static __thread int number = -1;

static void on_signal(int which) {
  if (which != SIGUSR1 || number < 0) {
    __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
  } else {
    __atomic_fetch_add(&got[number], 1, __ATOMIC_RELAXED);
  }
}
static void on_value(int which, siginfo_t* info, void* context) {
  (void)which, (void)context;
  __atomic_store_n(&queued[number], info->si_value.sival_int, __ATOMIC_RELEASE);
}
static void wait_for(int* at, int wanted) {
  while (__atomic_load_n(at, __ATOMIC_ACQUIRE) != wanted) usleep(100);
}

int main(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  action = (struct sigaction){.sa_sigaction = on_value, .sa_flags = SA_RESTART | SA_SIGINFO};
  sigaction(SIGRTMIN + 1, &action, NULL);
#pragma omp parallel
  {
    const int self = number = omp_get_thread_num(), count = omp_get_num_threads();
    threads[self] = pthread_self();
#pragma omp barrier
    if (self == 0) {
      for (int i = 0; i < count; ++i) {
        for (int round = 1; round <= rounds; ++round) {
          if (pthread_kill(threads[i], SIGUSR1) != 0 || pthread_kill(threads[i], 0) != 0) ++wrong;
          wait_for(&got[i], round);
        }
        const union sigval value = {.sival_int = 40 + i};
        if (pthread_sigqueue(threads[i], SIGRTMIN + 1, value) != 0) ++wrong;
        wait_for(&queued[i], 40 + i);
      }
    } else if (self % 2 != 0) {
      wait_for(&queued[self], 40 + self); /* the others are in the barrier */
    }
  }
  printf("%d of 4 threads, wrong %d\n", got[3] == rounds && queued[3] == 43 ? 4 : 0, wrong);
  return 0;
}
