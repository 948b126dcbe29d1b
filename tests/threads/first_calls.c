/* SPDX-License-Identifier: BSD-3-Clause */
// A library whose constructor makes calls that Quire has functions for, the one of number FIRST_CALL first of all. As a
// library of a compiler it is initialised before the job begins, as one of the program's own within it. Where
// FIRST_CALL is "count" it says how many there are.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static long guard;
__attribute__((weak)) int __cxa_guard_acquire(long*);
__attribute__((weak)) void __cxa_guard_release(long*);
__attribute__((weak)) int omp_get_thread_num(void);
int __cxa_atexit(void (*)(void*), void*, void*);
int __cxa_thread_atexit_impl(void (*)(void*), void*, void*);

static void nothing(void) {}
static void nothing_of(void* argument) { (void)argument; }
static void* idle(void* argument) { return argument; }
static void thread(void) {
  pthread_t t;
  if (pthread_create(&t, 0, idle, 0) == 0) pthread_join(t, 0);
}
static void lock(void) { pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex); }
static void try_lock(void) { pthread_mutex_trylock(&mutex), pthread_mutex_unlock(&mutex); }
static void broadcast(void) { pthread_cond_broadcast(&condition); }
static void wait_once(void) {
  const struct timespec past = {0, 0};
  pthread_mutex_lock(&mutex);
  pthread_cond_timedwait(&condition, &mutex, &past);
  pthread_mutex_unlock(&mutex);
}
static void read_lock(void) { pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock); }
static void run_once(void) { pthread_once(&once, nothing); }
static void run_once_c11(void) { call_once(&flag, nothing); }
static void key(void) {
  pthread_key_t k;
  if (pthread_key_create(&k, 0) == 0) pthread_setspecific(k, &k), pthread_getspecific(k), pthread_key_delete(k);
}
static void semaphore(void) {
  sem_t s;
  sem_init(&s, 0, 1), sem_wait(&s), sem_post(&s);
}
static void spin(void) {
  pthread_spinlock_t s;
  pthread_spin_init(&s, 0), pthread_spin_lock(&s), pthread_spin_unlock(&s);
}
static void cancel_state(void) { pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, 0), pthread_testcancel(); }
static void local_object(void) {
  if (__cxa_guard_acquire(&guard)) __cxa_guard_release(&guard);
}
static void at_exit(void) { __cxa_atexit(nothing_of, 0, 0); }
static void at_thread_exit(void) { __cxa_thread_atexit_impl(nothing_of, 0, &once); }
static void memory(void) { free(malloc(10)); }
static void zero_memory(void) { free(realloc(calloc(1, 10), 100)); }
static void aligned_memory(void) {
  void* at = 0;
  if (posix_memalign(&at, 64, 100) == 0) free(at);
  free(aligned_alloc(64, 64));
}
static void usable(void) {
  void* const at = malloc(10);
  malloc_usable_size(at), free(at);
}
static void mapping(void) {
  void* const at = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(at, 4096, MADV_DONTNEED), mprotect(at, 4096, PROT_READ | PROT_WRITE), munmap(at, 4096);
}
static void text(void) { free(strdup("text")); }
static void formatted(void) {
  char* made = 0;
  if (asprintf(&made, "%d", 1) > 0) free(made);
}
static void folder(void) { free(getcwd(0, 0)), free(realpath("/", 0)); }
static void print(void) { fprintf(stderr, "%s", ""), fputs("", stderr), fflush(stderr); }
static void stream(void) {
  FILE* const f = fopen("/dev/null", "w+");
  if (f != 0) fputc('a', f), fwrite("b", 1, 1, f), rewind(f), fgetc(f), fclose(f);
}
static void scan(void) {
  int n = 0;
  FILE* const f = fopen("/dev/null", "r");
  if (f != 0) (void)!fscanf(f, "%d", &n), fclose(f);
}
static void descriptor(void) {
  char c = 0;
  const int fd = open("/dev/null", O_RDWR);
  (void)!write(fd, &c, 1), (void)!read(fd, &c, 1), lseek(fd, 0, SEEK_SET), close(fd);
}
static void control(void) {
  fcntl(1, F_GETFD), isatty(1), close(dup(1));
  struct stat about;
  fstat(1, &about), stat("/", &about), access("/", F_OK);
}
static void connection(void) {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0) send(fds[0], "a", 1, 0), close(fds[0]), close(fds[1]);
}
static void events(void) { poll(0, 0, 0); }
static void variables(void) { setenv("QUIRE_FIRST_CALL", "1", 1), unsetenv("QUIRE_FIRST_CALL"); }
static void mask(void) { umask(umask(0)); }
static void handler(void) {
  struct sigaction now;
  sigaction(SIGUSR1, 0, &now), signal(SIGUSR1, SIG_DFL);
}
static void nap(void) {
  const struct timespec little = {0, 1};
  nanosleep(&little, 0), usleep(1);
}
static void numbers(void) { srand(1), rand(), random(), drand48(); }
static void library(void) { dlopen(0, RTLD_LAZY); }
static void processors(void) { sysconf(_SC_NPROCESSORS_ONLN); }

static void (*const calls[])(void) = {
    thread, lock,        try_lock,  broadcast,      wait_once,     read_lock,    run_once,  run_once_c11,
    key,    spin,        semaphore, text,           mapping,       cancel_state, at_exit,   local_object,
    memory, zero_memory, usable,    aligned_memory, stream,        formatted,    folder,    print,
    scan,   descriptor,  control,   events,         connection,    mask,         variables, handler,
    nap,    numbers,     library,   processors,     at_thread_exit};
enum { COUNT = sizeof calls / sizeof calls[0] };

__attribute__((constructor)) static void make_calls(void) {
  const char* const first = getenv("FIRST_CALL");
  if (first == 0) return;
  if (strcmp(first, "count") == 0) {
    printf("%d\n", COUNT);
    return;
  }
  if (omp_get_thread_num == 0) return;  // a program without Quire, such as what starts the job
  for (int i = 0; i < COUNT; ++i) calls[(atoi(first) + i) % COUNT]();
}
