/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of pthreads: making, waiting, letting go, leaving; thread-specific data; attributes, names, processors,
 * signals. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { threads = 6, rounds = 50 };

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t g_barrier;
static pthread_rwlock_t g_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t g_once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t g_spin;
static pthread_key_t g_key, g_late_key;
static sem_t g_semaphore;
static long g_sum, g_made_once, g_destroyed, g_cleaned, g_spun, g_pair[2], g_torn;
static int g_turn, g_waited;
static pthread_t g_selves[threads];
static _Thread_local int t_own = 7;
static int* g_owns[threads];

static void make_once(void) { ++g_made_once; }
static void destroy(void* value) {
  char* room = malloc(100); /* a destructor may allocate what others see */
  strcpy(room, "ab");
  pthread_mutex_lock(&g_mutex);
  g_destroyed += *(long*)value + (long)strlen(room);
  pthread_mutex_unlock(&g_mutex);
  free(room);
  free(value);
}
static void destroy_twice(void* value) {
  if (value == (void*)1) pthread_setspecific(g_late_key, (void*)2);
  pthread_mutex_lock(&g_mutex);
  g_destroyed += 1000;
  pthread_mutex_unlock(&g_mutex);
}
static void clean(void* by) { __atomic_fetch_add(&g_cleaned, (long)by, __ATOMIC_SEQ_CST); }

static void* all_of_it(void* argument) {
  const long me = (long)argument;
  long* value = malloc(sizeof *value);
  *value = me;
  pthread_once(&g_once, make_once);
  pthread_setspecific(g_key, value);
  pthread_setspecific(g_late_key, (void*)1);
  g_selves[me] = pthread_self();
  t_own += (int)me;
  g_owns[me] = &t_own;
  for (int i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&g_mutex);
    g_sum += me;
    pthread_mutex_unlock(&g_mutex);
    pthread_spin_lock(&g_spin);
    ++g_spun;
    pthread_spin_unlock(&g_spin);
    if (i % 10 == 0) {
      pthread_rwlock_wrlock(&g_rwlock);
      ++g_pair[0], ++g_pair[1];
    } else {
      pthread_rwlock_rdlock(&g_rwlock);
      g_torn += g_pair[0] != g_pair[1];
    }
    pthread_rwlock_unlock(&g_rwlock);
  }
  pthread_mutex_lock(&g_mutex);
  while (g_turn != me) pthread_cond_wait(&g_condition, &g_mutex);
  ++g_turn;
  pthread_cond_broadcast(&g_condition);
  pthread_mutex_unlock(&g_mutex);
  const int serial = pthread_barrier_wait(&g_barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
  /* All are here, and have their variables: of one another too. */
  long seen = 0;
  for (int i = 0; i < threads; ++i) seen += *g_owns[i] + (pthread_equal(g_selves[i], pthread_self()) ? 100 : 0);
  pthread_barrier_wait(&g_barrier);
  if (pthread_getspecific(g_key) != value) seen = -1;
  sem_post(&g_semaphore);
  return (void*)(seen + 10000 * serial);
}

static void together(void) {
  pthread_t all[threads];
  long results = 0;
  int same = 0;
  pthread_barrier_init(&g_barrier, NULL, threads);
  pthread_spin_init(&g_spin, PTHREAD_PROCESS_PRIVATE);
  pthread_key_create(&g_key, destroy);
  pthread_key_create(&g_late_key, destroy_twice);
  sem_init(&g_semaphore, 0, 0);
  for (long i = 0; i < threads; ++i) pthread_create(&all[i], NULL, all_of_it, (void*)i);
  for (int i = 0; i < threads; ++i) sem_wait(&g_semaphore);
  for (int i = 0; i < threads; ++i) {
    void* result = NULL;
    const int error = pthread_join(all[i], &result);
    if (error != 0) printf("join: %s\n", strerror(error));
    results += (long)result;
    same += pthread_equal(all[i], g_selves[i]) != 0;
  }
  printf("sum %ld, spun %ld, pairs %ld %ld, torn %ld, once %ld\n", g_sum, g_spun, g_pair[0], g_pair[1], g_torn,
         g_made_once);
  printf("results %ld, same %d, destroyed %ld, own %d, specific %d\n", results, same, g_destroyed, t_own,
         pthread_getspecific(g_key) == NULL);
  pthread_barrier_destroy(&g_barrier);
  const int deleted = pthread_key_delete(g_key);
  printf("keys: %d %d\n", deleted, pthread_setspecific(g_key, &results) == EINVAL);
}

/* ---- Ends */

static void* leave(void* argument) {
  pthread_cleanup_push(clean, (void*)1);
  pthread_cleanup_push(clean, (void*)10);
  pthread_exit(argument);
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
  return NULL;
}
static void* wait_long(void* argument) {
  (void)argument;
  sem_wait(&g_semaphore);
  __atomic_store_n(&g_waited, 1, __ATOMIC_RELEASE);
  return (void*)5;
}
static void* make_another(void* argument) {
  pthread_t inner;
  void* result = NULL;
  if ((long)argument == 0) return (void*)1;
  if (pthread_create(&inner, NULL, make_another, (char*)argument - 1) != 0) return (void*)-1000;
  pthread_join(inner, &result);
  return (char*)result + 1;
}
static void* join_other(void* other) {
  void* result = NULL;
  const int error = pthread_join(*(pthread_t*)other, &result);
  return error != 0 ? (void*)(long)-error : result;
}
static void* let_itself_go(void* argument) {
  pthread_detach(pthread_self());
  sem_post(argument);
  return NULL;
}

static void ends(void) {
  pthread_t one, other;
  void* result = NULL;
  struct timespec soon;
  pthread_create(&one, NULL, leave, &g_sum);
  pthread_join(one, &result);
  printf("left with its argument: %d, cleaned %ld\n", result == (void*)&g_sum, g_cleaned);

  pthread_create(&one, NULL, wait_long, NULL);
  clock_gettime(CLOCK_REALTIME, &soon);
  soon.tv_nsec += 3000000;
  if (soon.tv_nsec >= 1000000000) ++soon.tv_sec, soon.tv_nsec -= 1000000000;
  printf("busy %d, timed out %d\n", pthread_tryjoin_np(one, &result) == EBUSY,
         pthread_timedjoin_np(one, &result, &soon) == ETIMEDOUT);
  pthread_create(&other, NULL, join_other, &one);
  sem_post(&g_semaphore);
  pthread_join(other, &result);
  printf("another one has waited for it: %ld\n", (long)result);

  pthread_create(&one, NULL, make_another, (void*)5);
  pthread_join(one, &result);
  printf("threads of threads: %ld\n", (long)result);

  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  g_waited = 0;
  pthread_create(&one, &detached, wait_long, NULL);
  printf("detached: %d %d\n", pthread_join(one, NULL) == EINVAL, pthread_detach(one) == EINVAL);
  sem_post(&g_semaphore);
  while (!__atomic_load_n(&g_waited, __ATOMIC_ACQUIRE)) usleep(100); /* what is posted later is for others */
  sem_t gone;
  sem_init(&gone, 0, 0);
  for (int i = 0; i < 40; ++i) pthread_create(&other, NULL, let_itself_go, &gone);
  for (int i = 0; i < 40; ++i) sem_wait(&gone);
  printf("with itself: %d\n", pthread_join(pthread_self(), NULL) == EDEADLK);
  for (int i = 0; i < 60; ++i) { /* places are used again */
    pthread_create(&one, NULL, make_another, NULL);
    pthread_join(one, &result);
  }
  printf("many: %ld\n", (long)result);
}

/* ---- Cancellation */

static int g_waits;
static void unlock(void* mutex) { pthread_mutex_unlock(mutex); }
static void* wait_for_ever(void* how) {
  pthread_cleanup_push(clean, (void*)100);
  __atomic_store_n(&g_waits, 1, __ATOMIC_SEQ_CST);
  switch ((long)how) {
    case 0:
      pthread_mutex_lock(&g_mutex);
      pthread_cleanup_push(unlock, &g_mutex);
      for (;;) pthread_cond_wait(&g_condition, &g_mutex);
      pthread_cleanup_pop(1);
      break;
    case 1:
      sem_wait(&g_semaphore);
      break;
    case 2:
      sleep(1000);
      break;
    case 3:
      for (;;) pthread_testcancel();
    default: {
      int before;
      pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
      usleep(20000);
      pthread_setcancelstate(before, NULL);
      clean((void*)1000);
      for (;;) usleep(100000);
    }
  }
  pthread_cleanup_pop(0);
  return NULL;
}

static void cancellation(void) {
  g_cleaned = 0;
  int cancelled = 0;
  for (long how = 0; how < 5; ++how) {
    pthread_t one;
    void* result = NULL;
    __atomic_store_n(&g_waits, 0, __ATOMIC_SEQ_CST);
    pthread_create(&one, NULL, wait_for_ever, (void*)how);
    while (!__atomic_load_n(&g_waits, __ATOMIC_SEQ_CST)) sched_yield();
    if (pthread_cancel(one) != 0) printf("not cancelled\n");
    pthread_join(one, &result);
    cancelled += result == PTHREAD_CANCELED;
  }
  printf("cancelled %d, cleaned %ld, mutex free %d\n", cancelled, g_cleaned, pthread_mutex_trylock(&g_mutex) == 0);
  pthread_mutex_unlock(&g_mutex);
}

/* ---- What a thread is */

static void* tell_about_itself(void* argument) {
  pthread_attr_t* about = argument;
  char name[16] = "";
  sigset_t mask;
  cpu_set_t set;
  char room[3 << 20]; /* on the stack that was asked for */
  memset(room, 1, sizeof room);
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  pthread_setname_np(pthread_self(), "by-itself");
  pthread_getname_np(pthread_self(), name, sizeof name);
  pthread_getaffinity_np(pthread_self(), sizeof set, &set);
  sem_post(&g_semaphore);
  while (strcmp(name, "by-main") != 0) {
    usleep(1000);
    pthread_getname_np(pthread_self(), name, sizeof name);
  }
  return (void*)(long)(sigismember(&mask, SIGUSR2) + 2 * sigismember(&mask, SIGUSR1) + 4 * CPU_COUNT(&set) +
                       (about != NULL) * 100 + room[12345]);
}

static void abilities(void) {
  pthread_t one;
  pthread_attr_t about;
  void* result = NULL;
  char name[16] = "";
  sigset_t mask, before;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(0, &set);
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &mask, &before);
  pthread_attr_init(&about);
  printf("stack %d\n", pthread_attr_setstacksize(&about, 16 << 20));
  pthread_attr_setaffinity_np(&about, sizeof set, &set);
  pthread_create(&one, &about, tell_about_itself, &about);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  sem_wait(&g_semaphore);
  pthread_getname_np(one, name, sizeof name);
  int policy = -1;
  struct sched_param parameters = {77};
  const int scheduled = pthread_getschedparam(one, &policy, &parameters);
  printf("its name: %s, schedule %d %d %d\n", name, scheduled, policy, parameters.sched_priority);
  pthread_setname_np(one, "by-main");
  pthread_join(one, &result);
  printf("about it: %ld\n", (long)result);
}

/* ---- Signals */

static volatile sig_atomic_t g_signals;
static pthread_t g_signalled;
static void handle(int number) {
  g_signals += number == SIGUSR1 ? 1 : 100;
  if (!pthread_equal(g_signalled, pthread_self())) g_signals += 10000;
}
static void* be_signalled(void* argument) {
  (void)argument;
  g_signalled = pthread_self();
  raise(SIGUSR2);
  sem_post(&g_semaphore);
  while (g_signals < 105) usleep(1000);
  return NULL;
}
static void signals(void) {
  pthread_t one;
  struct sigaction now;
  memset(&now, 0, sizeof now);
  now.sa_handler = handle;
  sigaction(SIGUSR1, &now, NULL);
  signal(SIGUSR2, handle);
  pthread_create(&one, NULL, be_signalled, NULL);
  sem_wait(&g_semaphore);
  for (int i = 0; i < 5; ++i) {
    const int before = g_signals, error = pthread_kill(one, SIGUSR1);
    if (error != 0) printf("kill: %s\n", strerror(error));
    while (g_signals == before) usleep(1000);
  }
  pthread_join(one, NULL);
  printf("signals %d\n", (int)g_signals);
}

/* Barriers and conditions that go as soon as the last thread has come, or was woken; their memory is used again at
 * once. */
static pthread_barrier_t* g_short_barrier;
static pthread_cond_t* g_short_condition;
static int g_came, g_woken;
static void* come(void* argument) {
  (void)argument;
  pthread_barrier_wait(g_short_barrier);
  return NULL;
}
static void* wait_for_word(void* argument) {
  (void)argument;
  pthread_mutex_lock(&g_mutex);
  ++g_came;
  while (!g_woken) pthread_cond_wait(g_short_condition, &g_mutex);
  pthread_mutex_unlock(&g_mutex);
  return NULL;
}
static void short_lives(void) {
  pthread_t all[2];
  for (int i = 0; i < 20; ++i) {
    g_short_barrier = malloc(sizeof *g_short_barrier);
    pthread_barrier_init(g_short_barrier, NULL, 3);
    for (int t = 0; t < 2; ++t) pthread_create(&all[t], NULL, come, NULL);
    pthread_barrier_wait(g_short_barrier);
    pthread_barrier_destroy(g_short_barrier);
    memset(g_short_barrier, 0, sizeof *g_short_barrier);
    for (int t = 0; t < 2; ++t) pthread_join(all[t], NULL);
    free(g_short_barrier);
    g_short_condition = malloc(sizeof *g_short_condition);
    pthread_cond_init(g_short_condition, NULL);
    g_came = g_woken = 0;
    for (int t = 0; t < 2; ++t) pthread_create(&all[t], NULL, wait_for_word, NULL);
    for (int came = 0; came < 2;) {
      pthread_mutex_lock(&g_mutex);
      came = g_came;
      pthread_mutex_unlock(&g_mutex);
    }
    pthread_mutex_lock(&g_mutex);
    g_woken = 1;
    pthread_cond_broadcast(g_short_condition);
    pthread_mutex_unlock(&g_mutex);
    pthread_cond_destroy(g_short_condition);
    memset(g_short_condition, 0x55, sizeof *g_short_condition);
    for (int t = 0; t < 2; ++t) pthread_join(all[t], NULL);
    for (size_t k = 0; k < sizeof *g_short_condition; ++k) {
      if (((unsigned char*)g_short_condition)[k] != 0x55) printf("a waiter has changed a condition that was no more\n");
    }
    free(g_short_condition);
  }
  printf("short lives\n");
}

/* A child that has this memory, and ends without its program. */
static void child(void) {
  int status = 0;
  const pid_t one = vfork();
  if (one == 0) {
    execl("/no/such/program", "program", (char*)NULL);
    _exit(17);
  }
  waitpid(one, &status, 0);
  printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int main(void) {
  child();
  short_lives();
  together();
  ends();
  cancellation();
  abilities();
  signals();
  return 7;
}
