/* SPDX-License-Identifier: BSD-3-Clause */
// libc's locks in shared memory, for foreign_locks_test: each kind twice, in a program of plain C.
#include <pthread.h>
#include <quire/quire.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#define REQUIRE(condition)                                         \
  if (!(condition)) {                                              \
    fprintf(stderr, "FAILED line %d: %s\n", __LINE__, #condition); \
    exit(1);                                                       \
  }

struct locks {
  pthread_mutex_t mutex;
  pthread_rwlock_t rwlock;
  pthread_cond_t condition;
  pthread_barrier_t barrier;
  pthread_spinlock_t spin;
  sem_t semaphore;
  mtx_t standard;
};

static void make(struct locks* l) {
  REQUIRE(pthread_mutex_init(&l->mutex, NULL) == 0 && pthread_rwlock_init(&l->rwlock, NULL) == 0);
  REQUIRE(pthread_cond_init(&l->condition, NULL) == 0 && pthread_barrier_init(&l->barrier, NULL, 1) == 0);
  REQUIRE(pthread_spin_init(&l->spin, PTHREAD_PROCESS_PRIVATE) == 0 && sem_init(&l->semaphore, 0, 1) == 0);
  REQUIRE(mtx_init(&l->standard, mtx_timed) == thrd_success);
}

static void use(struct locks* l) {
  struct timespec soon;
  timespec_get(&soon, TIME_UTC);
  soon.tv_nsec = 0;
  REQUIRE(pthread_mutex_lock(&l->mutex) == 0);
  REQUIRE(pthread_mutex_trylock(&l->mutex) != 0 && pthread_mutex_timedlock(&l->mutex, &soon) != 0);
  REQUIRE(pthread_cond_signal(&l->condition) == 0 && pthread_cond_broadcast(&l->condition) == 0);
  REQUIRE(pthread_cond_timedwait(&l->condition, &l->mutex, &soon) != 0);
  REQUIRE(pthread_mutex_unlock(&l->mutex) == 0);
  REQUIRE(pthread_rwlock_rdlock(&l->rwlock) == 0 && pthread_rwlock_tryrdlock(&l->rwlock) == 0 &&
          pthread_rwlock_trywrlock(&l->rwlock) != 0);
  REQUIRE(pthread_rwlock_unlock(&l->rwlock) == 0 && pthread_rwlock_unlock(&l->rwlock) == 0 &&
          pthread_rwlock_wrlock(&l->rwlock) == 0);
  REQUIRE(pthread_rwlock_unlock(&l->rwlock) == 0);
  REQUIRE(pthread_barrier_wait(&l->barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
  REQUIRE(pthread_spin_lock(&l->spin) == 0 && pthread_spin_trylock(&l->spin) != 0 &&
          pthread_spin_unlock(&l->spin) == 0);
  REQUIRE(sem_wait(&l->semaphore) == 0 && sem_trywait(&l->semaphore) != 0 && sem_timedwait(&l->semaphore, &soon) != 0);
  REQUIRE(sem_post(&l->semaphore) == 0);
  REQUIRE(mtx_lock(&l->standard) == thrd_success && mtx_timedlock(&l->standard, &soon) != thrd_success);
  REQUIRE(mtx_unlock(&l->standard) == thrd_success);
}

int main(int argc, char** argv) {
  (void)argv;
  static struct locks private_ones;
  make(&private_ones);
  use(&private_ones);
  REQUIRE(quire_start(NULL) == QUIRE_OK);
  use(&private_ones);
  if (argc > 1 && quire_node() == quire_nodes() - 1) {
    void* shared = NULL;
    REQUIRE(quire_calloc(1, sizeof(struct locks), &shared) == QUIRE_OK);
    make(shared);
    use(shared);
    use(shared);
  }
  REQUIRE(quire_end() == QUIRE_OK);
  use(&private_ones);
  return 0;
}
