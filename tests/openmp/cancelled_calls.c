/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that is about to be cancelled makes a call: it is cancelled there, or behind it, and its cleanup handlers
 * run. The threads are of the node of the region's last thread, or wherever threads are (-DTHREADS). */
#define _GNU_SOURCE
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifndef THREADS
#include <omp.h>
#endif

static int fd, ends[2];
static char text[64], path[] = "cancelled_calls.XXXXXX";
static struct aiocb requests[2];
static struct addrinfo local = {.ai_flags = AI_NUMERICHOST};
static struct gaicb lookup = {.ar_name = "127.0.0.1", .ar_request = &local};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t nothing, something;
static FILE* stream;
extern char** environ;

static struct aiocb* request(int which) {
  struct aiocb* c = &requests[which];
  memset(c, 0, sizeof *c);
  c->aio_fildes = fd;
  c->aio_buf = text;
  c->aio_nbytes = 8;
  c->aio_lio_opcode = LIO_READ;
  return c;
}
static void call_aio_read(void) { aio_read(request(0)); }
static void call_aio_write(void) { aio_write(request(0)); }
static void call_aio_fsync(void) { aio_fsync(O_SYNC, request(0)); }
static void call_aio_cancel(void) { aio_cancel(fd, NULL); }
static void call_aio_suspend(void) {
  const struct aiocb* one[1] = {&requests[1]};
  aio_suspend(one, 1, NULL);
}
static void call_lio_listio(void) {
  struct aiocb* all[2] = {request(0), request(1)};
  lio_listio(LIO_WAIT, all, 2, NULL);
}
static void call_getaddrinfo_a(void) {
  struct gaicb* list[1] = {&lookup};
  getaddrinfo_a(GAI_WAIT, list, 1, NULL);
}
static void call_getaddrinfo(void) {
  struct addrinfo* found = NULL;
  getaddrinfo("127.0.0.1", NULL, &local, &found);
}
static void call_read(void) { (void)!read(fd, text, 8); }
static void call_write(void) { (void)!write(fd, text, 8); }
static void call_pread(void) { (void)!pread(fd, text, 8, 0); }
static void call_pwrite(void) { (void)!pwrite(fd, text, 8, 0); }
static void call_readv(void) {
  struct iovec part = {text, 8};
  (void)!readv(fd, &part, 1);
}
static void call_read_of_pipe(void) { (void)!read(ends[0], text, 8); }
static void call_open(void) { (void)!open(path, O_RDWR); }
static void call_creat(void) { (void)!creat(path, 0600); }
static void call_close(void) { close(dup(fd)); }
static void call_fsync(void) { fsync(fd); }
static void call_lockf(void) { (void)!lockf(fd, F_TEST, 0); }
static void call_fcntl(void) { fcntl(fd, F_GETFL); }
static void call_printf(void) { printf("%s", ""); }
static void call_fopen(void) {
  FILE* f = fopen(path, "r");
  if (f != NULL) fclose(f);
}
static void call_fread(void) { (void)!fread(text, 1, 8, stream); }
static void call_fprintf(void) { fprintf(stream, "%d\n", 5), fflush(stream); }
static void call_opendir(void) {
  DIR* d = opendir(".");
  if (d != NULL) readdir(d), closedir(d);
}
static void call_glob(void) {
  glob_t g;
  if (glob("/*", 0, NULL, &g) == 0) globfree(&g);
}
static void call_stat(void) { access(path, R_OK), unlink("nowhere"); }
static void call_sleep(void) { sleep(100); }
static void call_usleep(void) { usleep(900000); }
static void call_nanosleep(void) {
  struct timespec t = {100, 0};
  nanosleep(&t, NULL);
}
static void call_clock_nanosleep(void) {
  struct timespec t = {100, 0};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}
static void call_select(void) {
  struct timeval t = {100, 0};
  select(0, NULL, NULL, NULL, &t);
}
static void call_poll(void) { poll(NULL, 0, 100000); }
static void call_poll_of_pipe(void) {
  struct pollfd one = {ends[0], POLLIN, 0};
  poll(&one, 1, 100000);
}
static void call_sem_wait(void) { sem_wait(&nothing); }
static void call_sem_wait_something(void) { sem_wait(&something); }
static void call_sem_timedwait(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_sec += 100;
  sem_timedwait(&nothing, &t);
}
static void unlock(void* at) { pthread_mutex_unlock(at); }
static void call_pthread_cond_wait(void) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, &mutex);
  pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(1);
}
static void call_system(void) { (void)!system("true"); }
static void call_popen(void) {
  FILE* f = popen("true", "r");
  if (f != NULL) pclose(f);
}
static void call_posix_spawn(void) {
  char name[] = "true", *arguments[] = {name, NULL};
  pid_t child;
  if (posix_spawnp(&child, name, NULL, NULL, arguments, environ) == 0) waitpid(child, NULL, 0);
}
static void call_wait(void) { wait(NULL); }
static void call_socket(void) {
  int s = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = 9};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connect(s, (struct sockaddr*)&to, sizeof to);
  send(s, text, 8, MSG_DONTWAIT);
  close(s);
}
static void call_msync(void) { msync(text, 0, MS_ASYNC); }
static void call_malloc(void) { free(malloc(1 << 20)); }
static void call_setenv(void) { setenv("CANCELLED", "yes", 1); }
static void call_compute(void) {
  for (int i = 0; i < 1 << 20; ++i) __atomic_fetch_add((int*)text, 1, __ATOMIC_RELAXED);
}
#define CALL(name) \
  { #name, call_##name }
static const struct {
  const char* name;
  void (*call)(void);
} calls[] = {CALL(aio_read),
             CALL(aio_write),
             CALL(aio_fsync),
             CALL(aio_cancel),
             CALL(aio_suspend),
             CALL(lio_listio),
             CALL(getaddrinfo_a),
             CALL(getaddrinfo),
             CALL(read),
             CALL(write),
             CALL(pread),
             CALL(pwrite),
             CALL(readv),
             CALL(read_of_pipe),
             CALL(open),
             CALL(creat),
             CALL(close),
             CALL(fsync),
             CALL(lockf),
             CALL(fcntl),
             CALL(printf),
             CALL(fopen),
             CALL(fread),
             CALL(fprintf),
             CALL(opendir),
             CALL(glob),
             CALL(stat),
             CALL(sleep),
             CALL(usleep),
             CALL(nanosleep),
             CALL(clock_nanosleep),
             CALL(select),
             CALL(poll),
             CALL(poll_of_pipe),
             CALL(sem_wait),
             CALL(sem_wait_something),
             CALL(sem_timedwait),
             CALL(pthread_cond_wait),
             CALL(system),
             CALL(popen),
             CALL(posix_spawn),
             CALL(wait),
             CALL(socket),
             CALL(msync),
             CALL(malloc),
             CALL(setenv),
             CALL(compute)};
enum { all = sizeof calls / sizeof *calls };
static pthread_t thread;
static int ready, is_pending, cleaned;

static void clean(void* at) { ++*(int*)at; }
static void* work(void* at) {
  const size_t i = (size_t)at;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  pthread_cleanup_push(clean, &cleaned);
  __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&is_pending, __ATOMIC_ACQUIRE)) usleep(100);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
  calls[i].call();
  pthread_testcancel();
  pthread_cleanup_pop(0);
  return at;
}
static void make(size_t i) {
  if (pthread_create(&thread, NULL, work, (void*)i) != 0) abort();
}

static void try(size_t i) {
  ready = is_pending = cleaned = 0;
  lseek(fd, 0, SEEK_SET);
  rewind(stream);
#ifdef THREADS
  make(i);
#else
#pragma omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) make(i);
#endif
  while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) usleep(100);
  pthread_cancel(thread);
  __atomic_store_n(&is_pending, 1, __ATOMIC_RELEASE);
  void* result = NULL;
  pthread_join(thread, &result);
  printf("%s: %s, cleaned %d\n", calls[i].name, result == PTHREAD_CANCELED ? "cancelled" : "not cancelled", cleaned);
}

int main(int count, char** arguments) {
  fd = mkstemp(path);
  (void)!write(fd, "0123456789abcdef", 16);
  stream = fopen(path, "r+");
  (void)!pipe(ends);
  sem_init(&nothing, 0, 0);
  sem_init(&something, 0, 100);
  aio_read(request(1));
  for (size_t i = 0; i < all; ++i) {
    if (count < 2 || strcmp(arguments[1], calls[i].name) == 0) try(i);
  }
  unlink(path);
  return 0;
}
