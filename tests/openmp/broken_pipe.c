/* SPDX-License-Identifier: BSD-3-Clause */
// SIGPIPE of a thread that writes where nobody reads: `broken_pipe handled`, and `broken_pipe default THREAD`, which
// ends the program.
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { threads = 4 };

static char said[20000];
static size_t said_length = 0;
static void say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  said_length += vsnprintf(said + said_length, sizeof said - said_length, format, arguments);
  va_end(arguments);
}

static volatile sig_atomic_t handled;
static void on_pipe(int number) { handled += number == SIGPIPE; }

static void say_result(const char* what, long result) {
  say("%s: %ld %s, handled %d\n", what, result, result < 0 ? strerror(errno) : "", (int)handled);
  errno = 0;
  handled = 0;
}

static void write_all(int me) {
  int ends[2], two[2];
  if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, two) != 0) abort();
  close(ends[0]);
  close(two[0]);
  say("thread %d\n", me);
  say_result("write", write(ends[1], "text", 4));
  struct iovec parts[] = {{"a", 1}, {"b", 1}};
  say_result("writev", writev(ends[1], parts, 2));
  say_result("dprintf", dprintf(ends[1], "%d", me));
  say_result("send", send(two[1], "text", 4, 0));
  say_result("send without a signal", send(two[1], "text", 4, MSG_NOSIGNAL));
  say_result("good", write(fileno(tmpfile()), "text", 4));
  FILE* const stream = fdopen(ends[1], "w");
  say_result("fputs", fputs("text", stream) >= 0);
  say_result("fflush", fflush(stream));
  fputs("text", stream);
  say_result("fclose", fclose(stream));
  close(two[1]);
}

static void write_blocked(void) {
  int ends[2];
  if (pipe(ends) != 0) abort();
  close(ends[0]);
  sigset_t one, before, waits;
  sigemptyset(&one);
  sigaddset(&one, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &one, &before);
  say_result("blocked", write(ends[1], "text", 4));
  sigpending(&waits);
  say("waits: %d\n", sigismember(&waits, SIGPIPE));
  static const struct timespec none = {0, 0};
  say_result("taken", sigtimedwait(&one, NULL, &none));
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(ends[1]);
}

int main(int argc, char** argv) {
  const int who = argc > 2 ? atoi(argv[2]) : -1;
  printf("begins\n");
  fflush(stdout);
  if (who >= 0) {
#pragma omp parallel num_threads(threads)
    if (omp_get_thread_num() == who) {
      int ends[2];
      if (pipe(ends) != 0) abort();
      close(ends[0]);
      write(ends[1], "text", 4);
      printf("goes on\n");
    }
    printf("the end\n");
    return 0;
  }
  signal(SIGPIPE, on_pipe);
#pragma omp parallel for ordered schedule(static, 1) num_threads(threads)
  for (int i = 0; i < threads; ++i) {
#pragma omp ordered
    {
      write_all(i);
      write_blocked();
      if (i == threads - 1) signal(SIGPIPE, SIG_IGN);
    }
  }
#pragma omp parallel for ordered schedule(static, 1) num_threads(threads)
  for (int i = 0; i < threads; ++i) {
#pragma omp ordered
    write_all(i);
  }
  fputs(said, stdout);
  return 0;
}
