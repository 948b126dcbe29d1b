#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# userfaultfd: a tmpfs is full (size=), and a page of a file of it is filled by UFFDIO_COPY.
# Expected guess: ENOSPC, as write() and fallocate() say there; ENOMEM is for memory of the machine, or of a cgroup.
# Behaviour: UFFDIO_COPY says ENOMEM, and a plain access of the page is a SIGBUS. Who sees ENOMEM has to ask statfs() which of the two is short: a
# message "out of memory" sends its reader the wrong way.
# Seen on: Linux 6.18.44. Exit status 1: this kernel does otherwise; 77: no tmpfs can be mounted here, or there is no userfaultfd.
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
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { page = 4096, pages = 16 };

int main(int argc, char** argv) {
  (void)argc;
  const int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1 /* UFFD_USER_MODE_ONLY */);
  struct uffdio_api api = {.api = UFFD_API};
  if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) return printf("no userfaultfd here: %s\n", strerror(errno)), 77;
  if (mount("small", argv[1], "tmpfs", 0, "size=32768") != 0 || chdir(argv[1]) != 0) return printf("no tmpfs here: %s\n", strerror(errno)), 77;
  const int file = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, pages * page) != 0) return perror("file"), 77;
  char* const at = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  struct uffdio_register range = {.range = {(unsigned long)at, pages * page}, .mode = UFFDIO_REGISTER_MODE_MISSING};
  if (ioctl(fd, UFFDIO_REGISTER, &range) != 0) return perror("register"), 77;
  static char content[page];
  int error = 0, filled = 0;
  for (; error == 0 && filled < pages; filled += error == 0) {
    struct uffdio_copy copy = {.dst = (unsigned long)at + filled * page, .src = (unsigned long)content, .len = page};
    error = ioctl(fd, UFFDIO_COPY, &copy) == 0 ? 0 : errno;
  }
  printf("a tmpfs of 8 pages, UFFDIO_COPY of page %d: %s\n", filled + 1, strerror(error));
  const int plain = pwrite(file, content, page, filled * page) == page ? 0 : errno;
  printf("pwrite() of that page: %s\n", strerror(plain));
  return !(filled == 8 && error == ENOMEM && plain == ENOSPC);
}
C
echo "Linux $(uname -r)"
gcc -o "$folder/it" "$folder/it.c"
mkdir "$folder/mount"
map=$(unshare -m true 2>/dev/null || echo r)  # who is not root takes a user namespace
unshare -"${map}m" true 2>/dev/null || { echo "no mount namespace can be made"; exit 77; }
unshare -"${map}m" "$folder/it" "$folder/mount"
