/* SPDX-License-Identifier: BSD-3-Clause */
// Functions of the program's own that have names of libc's. Nobody calls them but the program.
#include <stdio.h>

static int g_calls;

#define OWN(name)                                      \
  int name(int a) {                                    \
    __atomic_fetch_add(&g_calls, 1, __ATOMIC_RELAXED); \
    return a + 1;                                      \
  }                                                    \
  static int call_##name(int a) { return name(a); }
#define ALL(use)                                                                                                      \
  use(send) use(recv) use(poll) use(connect) use(madvise) use(ioctl) use(close) use(read) use(write) use(sched_yield) \
      use(mprotect) use(nanosleep) use(epoll_wait) use(eventfd) use(access) use(stat) use(wait) use(kill) use(getpid) \
          use(socket) use(bind) use(listen) use(accept) use(select) use(dup) use(pipe) use(link) use(open) use(fcntl)
ALL(OWN)

// In the program's own data, then: what Quire loads looks at it, too.
extern char** environ;

int main(void) {
  enum { rounds = 200 };
#define ENTRY(name) call_##name,
  int (*const all[])(int) = {ALL(ENTRY)};
  const int count = sizeof all / sizeof *all;
  int wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
  for (int i = 0; i < rounds * count; ++i) wrong += all[i % count](i) != i + 1;
  printf("wrong %d, calls of others %d, an environment: %d\n", wrong, g_calls - rounds * count, environ != NULL);
  return 0;
}
