#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A thread ends while it holds robust mutexes (PTHREAD_MUTEX_ROBUST), one of which lies in a page that is absent and registered with userfaultfd.
# Expected guess: the kernel walks the list of held mutexes and marks each owner as dead; a fault on the way is served as any other.
# Behaviour: with UFFD_USER_MODE_ONLY, or UFFD_FEATURE_SIGBUS, the kernel's access fails, and the walk ends there: that mutex and all that were locked
# before it (they come behind it in the list) stay locked, and who waits for them waits for ever.
# Seen on: Linux 6.18.44, glibc 2.36. Exit status 1: this system does otherwise; 77: there is no userfaultfd.
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
static pthread_mutex_t *first, *second;  /* in the order in which they are locked */
static int fd, absent;
static char kept[page];

static void* ends_with_both(void* nothing) {
  pthread_mutex_lock(first);
  pthread_mutex_lock(second);
  if (absent) {  /* its content goes elsewhere; whoever touches the page asks for it */
    memcpy(kept, second, page);
    struct uffdio_register range = {.range = {(unsigned long)second, page}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (ioctl(fd, UFFDIO_REGISTER, &range) != 0 || madvise(second, page, MADV_DONTNEED) != 0) perror("register");
  }
  return nothing;
}
static int lock_says(pthread_mutex_t* m) {
  struct timespec soon;
  clock_gettime(CLOCK_REALTIME, &soon);
  soon.tv_sec += 1;
  return pthread_mutex_timedlock(m, &soon);
}
static int first_after_the_end(int gone) {
  first = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  second = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t robust;
  pthread_mutexattr_init(&robust);
  pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(first, &robust);
  pthread_mutex_init(second, &robust);
  absent = gone;
  pthread_t thread;
  pthread_create(&thread, NULL, ends_with_both, NULL);
  pthread_join(thread, NULL);
  if (gone) {  /* now its content is back */
    struct uffdio_copy copy = {.dst = (unsigned long)second, .src = (unsigned long)kept, .len = page};
    if (ioctl(fd, UFFDIO_COPY, &copy) != 0) perror("copy");
  }
  const int a = lock_says(first), b = lock_says(second);
  printf("the second mutex's page is %s: the first says %s, the second %s\n", gone ? "absent" : "there", strerror(a), strerror(b));
  return a == (gone ? ETIMEDOUT : EOWNERDEAD) && b == (gone ? ETIMEDOUT : EOWNERDEAD);
}

int main(void) {
  fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1 /* UFFD_USER_MODE_ONLY */);
  struct uffdio_api api = {.api = UFFD_API};
  if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) return printf("no userfaultfd here: %s\n", strerror(errno)), 77;
  return !(first_after_the_end(0) && first_after_the_end(1));
}
C
echo "Linux $(uname -r)"
gcc -pthread -o "$folder/it" "$folder/it.c"
"$folder/it"
