#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# io_uring: a read of a pipe that is still empty is submitted, into a page that is absent and registered with userfaultfd; later the pipe is written.
# Expected guess: the kernel waits for the page on a thread of its own, as it does where a request cannot be done at once; the submitter goes on, and
# finds a completion some time later. That is what the interface is for.
# Behaviour: the submitter itself does the copy, at its next entry to the kernel, a system call that has nothing to do with it or an interrupt, and stops
# there until somebody has brought the page: 300 ms, whatever it does. A thread that serves userfaults must therefore never submit such reads.
# Seen on: Linux 6.18.44. Exit status 1: this kernel does otherwise; 77: no io_uring, or no userfaultfd that serves the kernel's own faults.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/it.c" <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { page = 4096, late_ms = 300 };
static int fd, pipe_ends[2];

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
static void* brings_the_page(void* nothing) {
  struct uffd_msg m;
  if (read(fd, &m, sizeof m) != sizeof m) return nothing;
  usleep(late_ms * 1000);
  static char content[page];
  struct uffdio_copy copy = {.dst = m.arg.pagefault.address & ~(page - 1ULL), .src = (unsigned long)content, .len = page};
  ioctl(fd, UFFDIO_COPY, &copy);
  return nothing;
}
static void* writes_the_pipe(void* nothing) {
  usleep(100 * 1000);
  if (write(pipe_ends[1], "x", 1) != 1) perror("write");
  return nothing;
}

int main(void) {
  fd = syscall(SYS_userfaultfd, O_CLOEXEC);
  struct uffdio_api api = {.api = UFFD_API};
  if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) return printf("no such userfaultfd here: %s\n", strerror(errno)), 77;
  struct io_uring_params about = {.flags = IORING_SETUP_COOP_TASKRUN};
  const int ring = syscall(SYS_io_uring_setup, 4, &about);
  if (ring < 0 || pipe(pipe_ends) != 0) return printf("no io_uring here: %s\n", strerror(errno)), 77;
  char* const rows = mmap(NULL, about.sq_off.array + about.sq_entries * sizeof(unsigned), PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
  struct io_uring_sqe* const entry = mmap(NULL, about.sq_entries * sizeof *entry, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
  char* const at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct uffdio_register range = {.range = {(unsigned long)at, page}, .mode = UFFDIO_REGISTER_MODE_MISSING};
  if (ioctl(fd, UFFDIO_REGISTER, &range) != 0) return perror("register"), 77;
  pthread_t server, writer;
  pthread_create(&server, NULL, brings_the_page, NULL);
  *entry = (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = pipe_ends[0], .addr = (unsigned long)at, .len = 1, .off = -1};
  ((unsigned*)(rows + about.sq_off.array))[0] = 0;
  atomic_store((_Atomic unsigned*)(rows + about.sq_off.tail), 1);
  const double begin = now_ms();
  if (syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0) != 1) return perror("io_uring_enter"), 77;
  printf("submitting takes %.0f ms\n", now_ms() - begin);
  pthread_create(&writer, NULL, writes_the_pipe, NULL);
  /* A loop that asks for nothing: the clock is read from memory. */
  double took = 0;
  for (double begin = now_ms(), last = begin, now = begin; now - begin < 1000; last = now) {
    now = now_ms();
    took = now - last > took ? now - last : took;
  }
  printf("then a loop without system calls stops for %.0f ms\n", took);
  pthread_join(server, NULL);
  pthread_join(writer, NULL);
  printf("the page has: %s\n", at[0] == 'x' ? "what was written" : "something else");
  return !(took > late_ms / 2 && at[0] == 'x');
}
C
echo "Linux $(uname -r)"
gcc -pthread -o "$folder/it" "$folder/it.c"
timeout 30 "$folder/it"
