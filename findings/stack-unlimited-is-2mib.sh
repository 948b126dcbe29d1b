#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `ulimit -s unlimited`, and the stacks of threads that are not the first: those of gcc's OpenMP workers too.
# Expected guess: whoever says unlimited, because 8 MiB were too little, gets at least as much for each thread as before.
# Behaviour: glibc gives new threads a stack of 2 MiB then (ARCH_STACK_DEFAULT_SIZE), a quarter of what 8 MiB give, and libgomp takes that default: an
# OpenMP program whose private arrays fit with `ulimit -s 8192` ends with SIGSEGV with `ulimit -s unlimited`. OMP_STACKSIZE says it for the workers.
# Seen on: glibc 2.36, gcc 12.2. Exit status 1: this system does otherwise; 77: the hard limit does not allow it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/it.c" <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

int main(void) {
  size_t least = ~(size_t)0;
#pragma omp parallel num_threads(2) reduction(min : least)
  {
    pthread_attr_t about;
    void* at;
    size_t bytes = 0;
    pthread_getattr_np(pthread_self(), &about);
    pthread_attr_getstack(&about, &at, &bytes);
    least = bytes;
  }
  printf("%zu\n", least >> 10);
}
C
gcc -fopenmp -o "$folder/it" "$folder/it.c"
(ulimit -s unlimited) 2>/dev/null || { echo "the hard limit of the stack is $(ulimit -H -s)"; exit 77; }
limited=$(ulimit -s 8192; "$folder/it")
unlimited=$(ulimit -s unlimited; "$folder/it")
echo "ulimit -s 8192: the smaller stack of two OpenMP threads has $limited KiB; ulimit -s unlimited: $unlimited KiB"
[ "$limited" -gt 4096 ] && [ "$unlimited" -le 2048 ]
