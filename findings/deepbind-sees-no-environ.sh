#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# dlopen(3) with RTLD_DEEPBIND, and the variable `environ`, where the executable names it, too.
# Expected guess: a process has one `environ`, whoever reads it; getenv(3) and `environ` tell the same.
# Behaviour: the executable has a copy of the variable (a copy relocation), which libc uses. A library that is loaded with RTLD_DEEPBIND finds libc's own
# variable first, which nobody sets: it reads a null pointer, while its getenv() finds everything.
# A run-time that loads its transport past the program's names (to be safe from a program's own send() or poll()) thus gives it no environment to walk.
# Seen on: glibc 2.36 (Debian 12), gcc 12.2. Exit status 1: this system does otherwise.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/library.c" <<'C'
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

int has_environ(void) { return environ != NULL; }
int has_variable(void) { return getenv("FINDING") != NULL; }
C
cat >"$folder/it.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char** arguments) {
  printf("glibc %s; the executable's environ is %s\n", gnu_get_libc_version(), environ != NULL ? "set" : "null");
  int seen[2] = {0, 0};
  for (int deep = 0; deep < 2; ++deep) {
    void* const library = dlopen(arguments[1 + deep], RTLD_NOW | (deep ? RTLD_DEEPBIND : 0));
    if (library == NULL) return 2;
    int (*const has_environ)(void) = (int (*)(void))dlsym(library, "has_environ");
    int (*const has_variable)(void) = (int (*)(void))dlsym(library, "has_variable");
    seen[deep] = has_environ();
    printf("%s: environ is %s, getenv() %s\n", deep ? "RTLD_DEEPBIND" : "without", seen[deep] ? "set" : "null",
           has_variable() ? "finds the variable" : "finds nothing");
  }
  return !(count == 3 && seen[0] && !seen[1]);
}
C
gcc -O1 -shared -fPIC "$folder/library.c" -o "$folder/plain.so"
cp "$folder/plain.so" "$folder/deep.so"
gcc -O1 "$folder/it.c" -o "$folder/it" -ldl
FINDING=1 "$folder/it" "$folder/plain.so" "$folder/deep.so"
