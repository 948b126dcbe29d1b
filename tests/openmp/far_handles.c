/* SPDX-License-Identifier: BSD-3-Clause */
/* A pthread_t says on every node which thread it is: of threads that main() makes after large private mappings, and of
 * those of a team. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { threads = 4, made = 3 };
static pthread_t team[threads], own[made];
static int others, gate, equal;
#ifdef THREAD_LOCAL
static _Thread_local volatile int kept; /* their descriptors have places then */
#endif

static void* work(void* at) {
  while (!__atomic_load_n(&gate, __ATOMIC_ACQUIRE)) usleep(1000);
  return at;
}

int main(void) {
  for (int i = 0; i < made; ++i) {
    size_t bytes = (size_t)40 << 30;
    void* at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return perror("mmap"), 1;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    if (pthread_create(&own[i], &small, work, &own[i]) != 0) return 1;
  }
#pragma omp parallel num_threads(threads)
  {
    const int number = omp_get_thread_num();
#ifdef THREAD_LOCAL
    kept = number;
#endif
    team[number] = pthread_self();
#pragma omp barrier
    for (int i = 0; i < threads; ++i) {
      if ((i != number) != (pthread_equal(team[i], pthread_self()) == 0))
        __atomic_fetch_add(&equal, 1, __ATOMIC_ACQ_REL);
    }
#pragma omp barrier
    if (number == threads - 1) {
      for (int i = 0; i < made; ++i) {
        char name[16] = "", wanted[16];
        snprintf(wanted, sizeof wanted, "made %d", i);
        int error = pthread_setname_np(own[i], wanted);
        printf("%d %d %s\n", error, pthread_getname_np(own[i], name, sizeof name), name);
      }
      __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
      for (int i = 0; i < made; ++i) {
        void* result = NULL;
        int error = pthread_join(own[i], &result);
        printf("%d %d\n", error, result == &own[i]);
      }
      for (int i = 0; i < threads; ++i) {
        char wanted[16];
        snprintf(wanted, sizeof wanted, "team %d", i);
        printf("name: %d\n", pthread_setname_np(team[i], wanted));
      }
    }
#pragma omp barrier
    char found[16] = "", wanted[16];
    snprintf(wanted, sizeof wanted, "team %d", number);
    prctl(PR_GET_NAME, found);
    if (strcmp(found, wanted) != 0) __atomic_fetch_add(&others, 1, __ATOMIC_ACQ_REL);
  }
  printf("others' names: %d\n", others);
  printf("taken for another: %d\n", equal);
  return 0;
}
