#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# userfaultfd and guard pages (MADV_GUARD_INSTALL, Linux 6.13): a guarded page is filled by UFFDIO_COPY, and by UFFDIO_ZEROPAGE.
# Expected guess: a guard page ends who touches it until MADV_GUARD_REMOVE takes it away; UFFDIO_COPY, which maps only what is absent, says EEXIST.
# Behaviour: UFFDIO_COPY succeeds, and the guard is gone without a word, in anonymous and in shared memory. UFFDIO_ZEROPAGE takes it away in shared
# memory, and says EEXIST in anonymous memory. Who serves faults in memory with guards has to know where they lie.
# Seen on: Linux 6.18.44. Exit status 1: this kernel does otherwise; 77: it has no guard pages, or no userfaultfd.
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
#include <sys/wait.h>
#include <unistd.h>

enum { page = 4096, guard_install = 102 };

static int touched(char* at) {  /* 1: it can be; by a child, which has the same guards */
  int ends[2], status = 0;
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) _exit(*(volatile char*)at);
  waitpid(child, &status, 0);
  return WIFEXITED(status);
}
static int filled(int shared, int by_zero, int fd) {
  char* const at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);
  static char content[page];
  struct uffdio_register range = {.range = {(unsigned long)at, page}, .mode = UFFDIO_REGISTER_MODE_MISSING};
  if (madvise(at, page, guard_install) != 0) return printf("no guard pages here: %s\n", strerror(errno)), -1;
  const int before = touched(at);
  if (ioctl(fd, UFFDIO_REGISTER, &range) != 0) return printf("cannot register: %s\n", strerror(errno)), -1;
  struct uffdio_copy copy = {.dst = (unsigned long)at, .src = (unsigned long)content, .len = page};
  struct uffdio_zeropage zero = {.range = {(unsigned long)at, page}};
  const int error = ioctl(fd, by_zero ? UFFDIO_ZEROPAGE : UFFDIO_COPY, by_zero ? (void*)&zero : (void*)&copy) == 0 ? 0 : errno;
  ioctl(fd, UFFDIO_UNREGISTER, &range.range);
  const int after = touched(at);
  printf("%s memory, guarded (%s), %s: %s; then a read %s\n", shared ? "shared" : "anonymous", before ? "can be read" : "a read is a SIGSEGV",
         by_zero ? "UFFDIO_ZEROPAGE" : "UFFDIO_COPY", error == 0 ? "no error" : strerror(error), after ? "succeeds" : "is a SIGSEGV");
  return before == 0 && after;
}

int main(void) {
  const int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1 /* UFFD_USER_MODE_ONLY */);
  struct uffdio_api api = {.api = UFFD_API};
  if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) return printf("no userfaultfd here: %s\n", strerror(errno)), 77;
  const int private_copy = filled(0, 0, fd);
  if (private_copy < 0) return 77;
  return !(private_copy == 1 && filled(1, 0, fd) == 1 && filled(0, 1, fd) == 0 && filled(1, 1, fd) == 1);
}
C
echo "Linux $(uname -r)"
gcc -o "$folder/it" "$folder/it.c"
"$folder/it"
