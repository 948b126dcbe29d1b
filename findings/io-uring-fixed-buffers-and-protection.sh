#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# io_uring's fixed buffers (IORING_REGISTER_BUFFERS) and protection of pages: a buffer is registered, and its page is made read-only afterwards, by
# mprotect() or by userfaultfd; then a file is read into it.
# Expected guess: the read says EFAULT, as read() and a read of io_uring without a fixed buffer do.
# Behaviour: it succeeds, and the page has other content, without a fault. Registering pins the frame, as it does for a network card: page tables are not
# asked any more, and no bit in them says that the page was written. Whoever learns of writes by protection, soft-dirty bits or PAGEMAP_SCAN sees nothing.
# Seen on: Linux 6.18.44. Exit status 1: this kernel does otherwise; 77: no io_uring, or no userfaultfd with write protection.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/it.c" <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { page = 4096 };
static int ring;
static struct io_uring_params about;
static char* rows;
static struct io_uring_sqe* entry;
static struct io_uring_cqe* done;

static int reads_into(char* at, int fixed, int file) {
  static unsigned tail;
  *entry = (struct io_uring_sqe){.opcode = fixed ? IORING_OP_READ_FIXED : IORING_OP_READ, .fd = file, .addr = (unsigned long)at, .len = 1};
  ((unsigned*)(rows + about.sq_off.array))[tail & (about.sq_entries - 1)] = 0;
  atomic_store((_Atomic unsigned*)(rows + about.sq_off.tail), tail + 1);
  if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1) return -errno;
  const int result = done[tail & (about.cq_entries - 1)].res;
  atomic_store((_Atomic unsigned*)(rows + about.cq_off.head), ++tail);
  return result;
}
static int as_seen(const char* how, char* at, int file) {
  const int plain = reads_into(at, 0, file), fixed = reads_into(at, 1, file);
  printf("%s: a read into the page: %s; by its fixed buffer: %s, and the page has %s\n", how, plain < 0 ? strerror(-plain) : "no error",
         fixed < 0 ? strerror(-fixed) : "no error", at[0] == 'x' ? "what was read" : "what it had");
  return plain == -EFAULT && fixed == 1 && at[0] == 'x';
}

int main(void) {
  ring = syscall(SYS_io_uring_setup, 4, &about);
  if (ring < 0) return printf("no io_uring here: %s\n", strerror(errno)), 77;
  /* Both rings, by one mapping since Linux 5.4: the one of completions lies in front of the other's array. */
  rows = mmap(NULL, about.sq_off.array + about.sq_entries * sizeof(unsigned), PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
  done = (struct io_uring_cqe*)(rows + about.cq_off.cqes);
  entry = mmap(NULL, about.sq_entries * sizeof *entry, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
  const int file = memfd_create("file", 0), fd = syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */);
  struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_SIGBUS};
  if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) return printf("no such userfaultfd here: %s\n", strerror(errno)), 77;
  if (pwrite(file, "x", 1, 0) != 1) return 77;
  int all = 1;
  for (int by_userfault = 0; by_userfault < 2; ++by_userfault) {
    char* const at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    at[0] = '-';
    const struct iovec buffer = {at, page};
    if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &buffer, 1) != 0) return perror("buffers"), 77;
    struct uffdio_register range = {.range = {(unsigned long)at, page}, .mode = UFFDIO_REGISTER_MODE_WP};
    struct uffdio_writeprotect protect = {.range = range.range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    if (!by_userfault && mprotect(at, page, PROT_READ) != 0) return 77;
    if (by_userfault && (ioctl(fd, UFFDIO_REGISTER, &range) != 0 || ioctl(fd, UFFDIO_WRITEPROTECT, &protect) != 0)) return 77;
    all &= as_seen(by_userfault ? "userfaultfd" : "mprotect()", at, file);
    syscall(SYS_io_uring_register, ring, IORING_UNREGISTER_BUFFERS, NULL, 0);
  }
  return !all;
}
C
echo "Linux $(uname -r)"
gcc -o "$folder/it" "$folder/it.c"
timeout 30 "$folder/it"
