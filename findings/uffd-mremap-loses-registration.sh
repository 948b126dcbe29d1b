#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# userfaultfd: a registered and write-protected range is moved by mremap(), and the descriptor was opened without UFFD_FEATURE_EVENT_REMAP.
# Expected guess: the mapping keeps what it is registered for, as it keeps its protection by mprotect() and its locks.
# Behaviour: the new place is registered no more, and what was write-protected can be written. With the event asked for, registration and protection
# go along (and mremap() waits until somebody has read the event).
# Seen on: Linux 6.18.44. Exit status 1: this kernel does otherwise; 77: there is no userfaultfd with write protection.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/it.c" <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { page = 4096 };

static void* reads_an_event(void* fd) {
  struct uffd_msg m;
  if (read(*(int*)fd, &m, sizeof m) != sizeof m) perror("read");
  return NULL;
}
/* 1: the page can be written after it has moved. By the kernel, which gets an error where a thread would get a signal. */
static int can_be_written(unsigned long event) {
  int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
  if (fd < 0) fd = syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */);
  struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_SIGBUS | event};
  if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) return printf("no such userfaultfd here: %s\n", strerror(errno)), -1;
  char* const at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  at[0] = 1;
  struct uffdio_register range = {.range = {(unsigned long)at, page}, .mode = UFFDIO_REGISTER_MODE_WP};
  struct uffdio_writeprotect protect = {.range = range.range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
  if (ioctl(fd, UFFDIO_REGISTER, &range) != 0 || ioctl(fd, UFFDIO_WRITEPROTECT, &protect) != 0) return perror("register"), -1;
  if (syscall(SYS_clock_gettime, CLOCK_MONOTONIC, at) == 0) return printf("the protection does nothing\n"), -1;
  pthread_t reader;
  if (event != 0) pthread_create(&reader, NULL, reads_an_event, &fd);
  char* const hole = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* const moved = mremap(at, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, hole);
  if (moved == MAP_FAILED) return perror("mremap"), -1;
  if (event != 0) pthread_join(reader, NULL);
  const int writes = syscall(SYS_clock_gettime, CLOCK_MONOTONIC, moved) == 0;
  struct uffdio_writeprotect again = {.range = {(unsigned long)moved, page}, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
  const int registered = ioctl(fd, UFFDIO_WRITEPROTECT, &again) == 0;
  printf("%s the event: the page %s, and the new place is %sregistered\n", event != 0 ? "with" : "without", writes ? "can be written" : "is read-only",
         registered ? "" : "not ");
  close(fd);
  return writes && !registered;
}

int main(void) {
  const int without = can_be_written(0);
  if (without < 0) return 77;
  return !(without == 1 && can_be_written(UFFD_FEATURE_EVENT_REMAP) == 0);
}
C
echo "Linux $(uname -r)"
gcc -pthread -o "$folder/it" "$folder/it.c"
"$folder/it"
