#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# glibc's memcpy() of memory that another thread writes by aligned stores of 8 bytes; source and destination are aligned to 8 bytes, too.
# Expected guess: nothing is promised, but each word arrives as it was at one time, as processors load and store aligned words, and vectors, whole.
# Behaviour: with 2,112 bytes or more memcpy() uses `rep movsb` where the processor says that this is fast. AMD's Zen 3 then copies by bytes if the
# destination begins 1 to 63 bytes behind the source modulo 4096: a word arrives as a mixture of several values, and the copy takes about 15 times
# as long. What malloc() gives for a large block begins 16 bytes behind a page: just so beside a source that begins one.
# Seen on: glibc 2.36 (Debian 12), AMD EPYC, family 25, model 1. Exit status 1: this C library, or processor, does otherwise; 77: no such processor.
set -euo pipefail
if ! grep -q '^vendor_id.*AuthenticAMD' /proc/cpuinfo || ! grep -q '^flags.*\bfsrm\b' /proc/cpuinfo; then
  echo "no processor of AMD with fast short rep movsb"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/it.c" <<'C'
#include <gnu/libc-version.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { page = 4096, bytes = 65536, words = 12, copies = 60000 };
static const uint64_t step = 0x100010001; /* a mixture of two multiples is none */
static volatile uint64_t* from;
static volatile int stop;

static void* write_words(void* unused) {
  for (uint64_t i = 1; !stop; ++i)
    for (int k = 0; k < words; ++k) from[k] = i * step;
  return unused;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static long torn_words(char* to, size_t behind) {
  long torn = 0;
  double copying = 0;
  for (int i = 0; i < copies; ++i) {
    const double begin = now();
    memcpy(to + behind, (const void*)from, bytes);
    copying += now() - begin;
    for (int k = 0; k < words; ++k) torn += *(const volatile uint64_t*)(to + behind + 8 * k) % step != 0;
  }
  printf("destination %2zu bytes behind the source: %d copies, %.1f us each, %ld words in parts\n", behind, copies, copying / copies * 1e6, torn);
  return torn;
}

int main(void) {
  printf("glibc %s\n", gnu_get_libc_version());
  from = aligned_alloc(page, bytes);
  char* const to = aligned_alloc(page, bytes + page);
  memset((void*)from, 0, bytes);
  memset(to, 0, bytes + page);
  pthread_t thread;
  pthread_create(&thread, NULL, write_words, NULL);
  const long torn[] = {torn_words(to, 0), torn_words(to, 8), torn_words(to, 16), torn_words(to, 64)};
  stop = 1;
  pthread_join(thread, NULL);
  return !(torn[0] == 0 && torn[1] + torn[2] > 0 && torn[3] == 0);
}
C
gcc -O2 -pthread -o "$folder/it" "$folder/it.c"
"$folder/it"
