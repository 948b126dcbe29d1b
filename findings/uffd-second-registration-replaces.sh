#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# userfaultfd: a range that is registered for write protection is registered again, for absent pages.
# Expected guess: it is registered for both now (UFFDIO_REGISTER adds), or the second call is refused as the range is registered already.
# Behaviour: the call succeeds, and its modes replace the first: the range cannot be write-protected any more, and pages that were protected before the
# call can be written. Only UFFDIO_UNREGISTER is expected to do that. Whoever registers has to name all modes each time.
# Seen on: Linux 6.18.44. Exit status 1: this kernel does otherwise; 77: there is no userfaultfd with write protection.
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

enum { page = 4096 };

/* By the kernel, which gets an error where a thread would get a signal. */
static int can_be_written(char* at) { return syscall(SYS_clock_gettime, CLOCK_MONOTONIC, at) == 0; }

int main(void) {
  const int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1 /* UFFD_USER_MODE_ONLY */);
  struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_SIGBUS};
  if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) return printf("no such userfaultfd here: %s\n", strerror(errno)), 77;
  char* const at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  at[0] = 1;
  struct uffdio_register range = {.range = {(unsigned long)at, page}, .mode = UFFDIO_REGISTER_MODE_WP};
  struct uffdio_writeprotect protect = {.range = range.range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
  if (ioctl(fd, UFFDIO_REGISTER, &range) != 0 || ioctl(fd, UFFDIO_WRITEPROTECT, &protect) != 0) return perror("register"), 77;
  const int before = can_be_written(at);
  printf("registered for write protection, and protected: the page %s\n", before ? "can be written" : "is read-only");
  range.mode = UFFDIO_REGISTER_MODE_MISSING;
  const int error = ioctl(fd, UFFDIO_REGISTER, &range) == 0 ? 0 : errno;
  printf("registered again, for absent pages: %s\n", strerror(error));
  const int after = can_be_written(at);
  const int refused = ioctl(fd, UFFDIO_WRITEPROTECT, &protect) == 0 ? 0 : errno;
  printf("the page %s; UFFDIO_WRITEPROTECT says: %s\n", after ? "can be written" : "is read-only", strerror(refused));
  return !(!before && error == 0 && after && refused != 0);
}
C
echo "Linux $(uname -r)"
gcc -o "$folder/it" "$folder/it.c"
"$folder/it"
