#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# userfaultfd and System V shared memory, which is kept by the same tmpfs code as memfd_create().
# Expected guess: what a memfd may be registered for, a segment of shmget() may as well.
# Behaviour: a mapping of shmat() is refused by UFFDIO_REGISTER with EINVAL for absent pages, for minor faults and for write protection, each of which a
# memfd may have; with UFFD_FEATURE_WP_ASYNC (Linux 6.7) it may be registered for write protection.
# Seen on: Linux 6.18.44. Exit status 1: this kernel does otherwise; 77: there is no userfaultfd, or none with that feature.
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
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MINOR_SHMEM (1ULL << 10)
#define WP_SHMEM (1ULL << 12)
#define WP_UNPOPULATED (1ULL << 13)
#define WP_ASYNC (1ULL << 15)
enum { page = 4096, mode_minor = 1 << 2 };

static int registered(char* at, unsigned long mode, unsigned long long features) {
  const int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1 /* UFFD_USER_MODE_ONLY */);
  struct uffdio_api api = {.api = UFFD_API, .features = features};
  if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) return printf("no such userfaultfd here: %s\n", strerror(errno)), -1;
  struct uffdio_register range = {.range = {(unsigned long)at, page}, .mode = mode};
  const int error = ioctl(fd, UFFDIO_REGISTER, &range) == 0 ? 0 : errno;
  close(fd);
  return error;
}

int main(void) {
  const int memory = memfd_create("page", MFD_CLOEXEC), segment = shmget(IPC_PRIVATE, page, 0600);
  if (memory < 0 || ftruncate(memory, page) != 0 || segment < 0) return perror("memory"), 77;
  char* const file = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  char* const sysv = shmat(segment, NULL, 0);
  shmctl(segment, IPC_RMID, NULL);
  const struct { const char* name; unsigned long mode; unsigned long long features; int sysv; } modes[] = {
      {"absent pages", UFFDIO_REGISTER_MODE_MISSING, 0, EINVAL},
      {"minor faults", mode_minor, MINOR_SHMEM, EINVAL},
      {"write protection", UFFDIO_REGISTER_MODE_WP, WP_SHMEM, EINVAL},
      {"write protection, WP_ASYNC", UFFDIO_REGISTER_MODE_WP, WP_SHMEM | WP_UNPOPULATED | WP_ASYNC, 0},
  };
  int as_seen = 1;
  for (unsigned i = 0; i < sizeof modes / sizeof *modes; ++i) {
    const int a = registered(file, modes[i].mode, modes[i].features), b = registered(sysv, modes[i].mode, modes[i].features);
    if (a < 0 || b < 0) return 77;
    printf("%-26s  memfd: %-8s  System V: %s\n", modes[i].name, a ? strerror(a) : "no error", b ? strerror(b) : "no error");
    as_seen &= a == 0 && b == modes[i].sysv;
  }
  return !as_seen;
}
C
echo "Linux $(uname -r)"
gcc -o "$folder/it" "$folder/it.c"
"$folder/it"
