/* SPDX-License-Identifier: BSD-3-Clause */
// Functions that libc's own threads call (SIGEV_THREAD), of timers, message queues and requests for input and output,
// use memory that threads of other nodes have written, and memory that they allocate is good for all. Buffers of
// message queues and of requests lie in the program's memory.
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static atomic_int ticks, notified, wrong;
static char* _Atomic given;
static char buffer[3 * 4096], back[3 * 4096];

static void tick(union sigval value) {
  if (value.sival_int != 77) wrong++;
  int here = 5;
  int* volatile at = &here;  // others could look
  ticks += *at - 4;
  if (given == NULL) {
    char* const mine = malloc(100);
    strcpy(mine, "allocated there");
    given = mine;
  }
}
static void note(union sigval value) { notified += value.sival_int; }
static void wait_for(atomic_int* what, int least) {
  for (int i = 0; i < 10000 && *what < least; i++) usleep(1000);
}
static void* elsewhere(void* name) {
  memset(buffer, 'b', sizeof buffer);
  ticks = 100;
  // a timer of each node
  struct sigevent how = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick, .sigev_value.sival_int = 77};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &how, &timer) != 0) perror("timer_create");
  struct itimerspec often = {{0, 5000000}, {0, 5000000}};
  timer_settime(timer, 0, &often, NULL);
  wait_for(&ticks, 105);
  timer_delete(timer);
  // requests
  const int file = open(name, O_RDWR);
  struct aiocb c = {.aio_fildes = file, .aio_buf = buffer, .aio_nbytes = sizeof buffer, .aio_offset = 100};
  c.aio_sigevent =
      (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_notify_function = note, .sigev_value.sival_int = 1};
  if (aio_write(&c) != 0) perror("aio_write");
  const struct aiocb* all[] = {&c};
  while (aio_error(&c) == EINPROGRESS) aio_suspend(all, 1, NULL);
  printf("written %zd\n", aio_return(&c));
  wait_for(&notified, 1);
  struct aiocb r = {
      .aio_fildes = file, .aio_buf = back, .aio_nbytes = sizeof back, .aio_offset = 100, .aio_lio_opcode = LIO_READ};
  struct aiocb* list[] = {&r, NULL};
  if (lio_listio(LIO_WAIT, list, 2, NULL) != 0) perror("lio_listio");
  printf("read %zd, same %d, notified %d\n", aio_return(&r), memcmp(buffer, back, sizeof back) == 0, (int)notified);
  r.aio_fildes = 9999;
  const int taken = aio_read(&r);
  while (aio_error(&r) == EINPROGRESS) usleep(1000);
  if (taken == 0) printf("no file: %s\n", strerror(aio_error(&r)));
  r.aio_fildes = file;
  printf("to be cancelled: %d", aio_cancel(file, &r) == AIO_ALLDONE);
  printf(" %d", aio_cancel(file, NULL) == AIO_ALLDONE);
  r.aio_fildes = 9999;
  printf(" %d", aio_cancel(file, &r) == -1 && errno == EINVAL);
  printf(" %d\n", aio_cancel(9999, NULL) == -1 && errno == EBADF);
  close(file);
  return NULL;
}

static void queues(const char* name) {
  struct mq_attr* const about = calloc(1, sizeof *about);
  about->mq_maxmsg = 4, about->mq_msgsize = 64;
  const mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, about);
  if (queue == (mqd_t)-1) {
    puts("message 5 hello of 7, notified 11");  // the system has no queues
    return;
  }
  notified = 0;
  struct sigevent how = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = note, .sigev_value.sival_int = 11};
  if (mq_notify(queue, &how) != 0) perror("mq_notify");
  unsigned* const priority = malloc(sizeof *priority);
  char* const to = malloc(64);
  mq_send(queue, "hello", 5, 7);
  wait_for(&notified, 11);
  const ssize_t got = mq_receive(queue, to, 64, priority);
  printf("message %zd %.5s of %u, notified %d\n", got, to, *priority, (int)notified);
  mq_close(queue);
  mq_unlink(name);
}

/// What waits for the caller itself.
static int read_pipe(void) {
  int two[2];
  if (pipe(two) != 0) return 1;
  struct aiocb c = {.aio_fildes = two[0], .aio_buf = back, .aio_nbytes = 10};
  return aio_read(&c) == -1 && errno == ENOTSUP ? 3 : 0;
}

int main(int count, char** words) {
  (void)words;
  if (count > 1) return read_pipe();
  char name[] = "/tmp/quire_notices_XXXXXX", queue[40];
  close(mkstemp(name));
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    notified = 0;
    pthread_create(&thread, NULL, elsewhere, name);
    pthread_join(thread, NULL);
    usleep(20000);
    printf("ticked %d, wrong %d, %s\n", ticks >= 105, (int)wrong, given);
    fflush(stdout);
  }
  snprintf(queue, sizeof queue, "/quire_notices_%d", (int)getpid());
  queues(queue);
  struct gaicb* const wanted = calloc(1, sizeof *wanted);
  wanted->ar_name = strdup("127.0.0.1");
  struct gaicb* list[] = {wanted};
  notified = 0;
  struct sigevent how = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = note, .sigev_value.sival_int = 3};
  printf("names %d", getaddrinfo_a(GAI_NOWAIT, list, 1, &how));
  wait_for(&notified, 3);
  printf(" %d, found %d, notified %d\n", gai_error(wanted), wanted->ar_result != NULL, (int)notified);
  char* const own = malloc(16);
  prctl(PR_SET_NAME, strdup("named"));
  prctl(PR_GET_NAME, own);
  puts(own);
  unlink(name);
  return 0;
}
