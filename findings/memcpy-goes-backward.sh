#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# In which order memcpy() of glibc comes to the pages of its destination, of two blocks that do not overlap: by a handler of faults.
# Expected guess: from the first page to the last, as read-ahead of kernels, and of shared memory that brings pages on demand, takes for granted.
# Behaviour: from 1 MiB on (less on other processors) it begins at the end and goes down to the beginning, unless the destination begins at a lower
# address of its page than the source: where the first loads of a block would else come right behind stores to the same address modulo 4096.
# Seen on: glibc 2.36 (Debian 12), AMD EPYC, family 25, model 1; an Intel Xeon (family 6, model 167) goes up with the same library. Exit status 1: this C
# library, or processor, does otherwise; 77: no such processor.
set -euo pipefail
if ! grep -q '^vendor_id.*AuthenticAMD' /proc/cpuinfo; then
  echo "no processor of AMD"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/it.c" <<'C'
#define _GNU_SOURCE
#include <gnu/libc-version.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { page = 4096, pages = 2048 };
static char* to;
static volatile int last, up, down;

static void on_fault(int number, siginfo_t* about, void* unused) {
  (void)number, (void)unused;
  const int now = (int)(((char*)about->si_addr - to) / page);
  now > last ? ++up : ++down;
  last = now;
  mprotect(to + (size_t)now * page, page, PROT_READ | PROT_WRITE);
}

static int goes_down(const char* from, size_t bytes, size_t source, size_t destination) {
  last = -1;
  up = down = 0;
  mprotect(to, (pages + 1) * page, PROT_NONE);
  memcpy(to + destination, from + source, bytes);
  printf("%4zu KiB, source at %2zu, destination at %2zu of their pages: the next page was above %4d times, below %4d times\n", bytes >> 10, source,
         destination, up, down);
  return down > up;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  char* const from = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  to = mmap(NULL, (pages + 1) * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(from, 1, (pages + 1) * page);
  printf("glibc %s\n", gnu_get_libc_version());
  const size_t large = (size_t)pages * page, small = 64 * page;
  const int as_seen = goes_down(from, large, 0, 0) && goes_down(from, large, 16, 16) && goes_down(from, large, 0, 16) &&
                      !goes_down(from, large, 16, 0) && !goes_down(from, small, 0, 0);
  return !as_seen;
}
C
gcc -O2 -o "$folder/it" "$folder/it.c"
"$folder/it"
