#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# userfaultfd: a page of shared memory is write-protected while it is absent, and then mapped by UFFDIO_CONTINUE.
# Expected guess: it is read-only, as its range was write-protected, without an error, before.
# Behaviour: it can be written; the protection was dropped in silence. Only UFFDIO_CONTINUE_MODE_WP (Linux 6.4, which has no feature bit to ask
# for) maps it read-only; before 6.4 there is a moment at which a thread can write, if nothing else keeps it out.
# Seen on: Linux 6.1.192 (Debian), 6.12.117 (Debian), 6.18.44. Exit status 1: this kernel does otherwise.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/it.c" <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1ULL << 12)
#endif

enum { page = 4096 };

/* By the kernel, which gets an error where a thread would get a signal. */
static const char* written(char* at) { return syscall(SYS_clock_gettime, CLOCK_MONOTONIC, at) == 0 ? "can be written" : "is read-only"; }

int main(void) {
  const int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1 /* UFFD_USER_MODE_ONLY */);
  struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_SIGBUS};
  if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) return printf("no userfaultfd here: %s\n", strerror(errno)), 77;
  const int memory = memfd_create("page", MFD_CLOEXEC);
  if (memory < 0 || ftruncate(memory, page) != 0 || pwrite(memory, "x", 1, 0) != 1) return 77;
  char* const at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  struct uffdio_register range = {.range = {(unsigned long)at, page},
                                  .mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP};
  struct uffdio_writeprotect protect = {.range = {(unsigned long)at, page}, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
  struct uffdio_continue show = {.range = {(unsigned long)at, page}};
  if (ioctl(fd, UFFDIO_REGISTER, &range) != 0) return 77;
  printf("write protection of the absent page: %s\n", ioctl(fd, UFFDIO_WRITEPROTECT, &protect) == 0 ? "no error" : strerror(errno));
  printf("UFFDIO_CONTINUE: %s\n", ioctl(fd, UFFDIO_CONTINUE, &show) == 0 ? "no error" : strerror(errno));
  const char* const after = written(at);
  printf("the page %s\n", after);
  printf("write protection of the mapped page: %s; ", ioctl(fd, UFFDIO_WRITEPROTECT, &protect) == 0 ? "no error" : strerror(errno));
  printf("the page %s\n", written(at));
  return strcmp(after, "can be written") != 0;
}
C
echo "Linux $(uname -r)"
gcc -o "$folder/it" "$folder/it.c"
"$folder/it"
