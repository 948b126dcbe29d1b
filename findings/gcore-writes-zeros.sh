#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# gdb's gcore, and a mapping of which one page is absent and registered with userfaultfd (nobody serves it while the process is stopped).
# Expected guess: the core file has what can be read, and a hole for that page.
# Behaviour: "warning: Memory read failed for corefile section", and the core file has zeros from the MiB of the mapping on in which the page lies to the
# mapping's end, pages that are there included. Whoever looks at such a core file for the reason of a hang sees locks that are free and lists that are empty.
# Seen on: gdb 13.1, Linux 6.18.44. Exit status 1: this system does otherwise; 77: no gcore, or no userfaultfd.
set -euo pipefail
command -v gcore >/dev/null || { echo "gcore is missing"; exit 77; }
folder=$(mktemp -d)
process=
trap 'if [ -n "$process" ]; then kill -9 "$process"; wait "$process" 2>/dev/null || true; fi; rm -rf "$folder"' EXIT
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
#include <unistd.h>

enum { page = 4096, pages = 256 };

int main(void) {
  const int fd = syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */);
  struct uffdio_api api = {.api = UFFD_API};
  if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) return printf("no userfaultfd here: %s\n", strerror(errno)), 77;
  char* const at = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < pages; ++i) snprintf(at + i * page, page, "mark-of-%s", "a-page");
  madvise(at + 10 * page, page, MADV_DONTNEED);
  struct uffdio_register range = {.range = {(unsigned long)at, pages * page}, .mode = UFFDIO_REGISTER_MODE_MISSING};
  if (ioctl(fd, UFFDIO_REGISTER, &range) != 0) return perror("register"), 77;
  printf("ready\n");
  fflush(stdout);
  pause();
}
C
gcc -o "$folder/it" "$folder/it.c"
echo "Linux $(uname -r), $(gdb --version | head -1)"
"$folder/it" >"$folder/says" &
process=$!
for _ in $(seq 100); do grep -q . "$folder/says" && break; sleep 0.1; done
grep -q ready "$folder/says" || { cat "$folder/says"; exit 77; }
gcore -o "$folder/core" "$process" >"$folder/gcore" 2>&1 || { cat "$folder/gcore"; exit 77; }
grep -i "warning.*read failed" "$folder/gcore" | sed 's/0x[0-9a-f]*/.../g' || true
marks=$(grep -ao "mark-of-a-page" "$folder/core.$process" | wc -l || true)
echo "a mapping of 256 pages, each but one with a mark: the core file has $marks marks"
[ "$marks" -eq 0 ]
