/* SPDX-License-Identifier: BSD-3-Clause */
// Functions with names of libc's, and another meaning: a library has them (LIBRARY), or the program calls them there.
#define OF_LIBRARY(one, two)                                                                                \
  one(random, a * 2) one(warn, a + 3) one(poll, a * 3) one(stat, a / 2) one(remove, a + 9) two(send, a + 1) \
      two(kill, a + 2) two(select, a + 7) two(link, a * 5) two(write, a - 1) two(ioctl, a + 11) two(madvise, a * 7)

#ifdef LIBRARY
int calls_of_library;
#define ONE(name, value)                                        \
  double name(double a) {                                       \
    __atomic_fetch_add(&calls_of_library, 1, __ATOMIC_RELAXED); \
    return value;                                               \
  }
#define TWO(name, value)                                        \
  int name(int a) {                                             \
    __atomic_fetch_add(&calls_of_library, 1, __ATOMIC_RELAXED); \
    return value;                                               \
  }
OF_LIBRARY(ONE, TWO)
#else
#include <pthread.h>

int printf(const char*, ...);
extern int calls_of_library;
#define ONE(name, value) double name(double);
#define TWO(name, value) int name(int);
OF_LIBRARY(ONE, TWO)
#undef ONE
#undef TWO

static void* work(void* p) {
  const int a = 600;
  int wrong = 0, calls = 0;
#define ONE(name, value) ++calls, wrong += name(a) != (double)(value);
#define TWO(name, value) ++calls, wrong += name(a) != (value);
  OF_LIBRARY(ONE, TWO)
  ((int*)p)[0] = wrong;
  ((int*)p)[1] = calls;
  return p;
}

int main(void) {
  enum { threads = 6 };
  pthread_t all[threads];
  static int of[threads][1024];
  int wrong = 0, calls = 0;
  for (int i = 0; i < threads; ++i) pthread_create(&all[i], 0, work, of[i]);
  for (int i = 0; i < threads; ++i) {
    pthread_join(all[i], 0);
    wrong += of[i][0];
    calls += of[i][1];
  }
  printf("wrong %d, calls of others %d\n", wrong, calls_of_library - calls);
  return 0;
}
#endif
