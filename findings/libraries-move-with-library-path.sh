#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Where the libraries of a program lie without random addresses (setarch -R), with LD_LIBRARY_PATH of several lengths, whose folders do not exist.
# Expected guess: at the same addresses: the program, the libraries, the kernel and the machine are the same.
# Behaviour: glibc's dynamic linker copies the variable, and more, to pages that it maps between the libraries; how many depends on the length. So a function
# of a library has several addresses. mpirun extends the variable for processes on other hosts only: with the same program their libraries lie elsewhere.
# Seen on: glibc 2.36 (Debian 12), x86-64. Exit status 1: it does otherwise; 77: another C library, or addresses cannot be fixed.
set -euo pipefail
[ "$(uname -m)" = x86_64 ] && setarch -R true 2>/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/it.c" <<'C'
#include <gnu/libc-version.h>
#include <math.h>
#include <stdio.h>

int main(int count, char** arguments) {
  (void)arguments;
  if (count > 1) printf("glibc %s\n", gnu_get_libc_version());
  if (count == 1) printf("%p\n", (void*)&cos);
  return 0;
}
C
gcc -o "$folder/it" "$folder/it.c" -lm
"$folder/it" version
for length in 0 1000 2000 4000 8000; do
  address=$(LD_LIBRARY_PATH=/none$(printf "%0${length}d" 0) setarch -R "$folder/it")
  again=$(LD_LIBRARY_PATH=/none$(printf "%0${length}d" 0) setarch -R "$folder/it")
  echo "a variable of about $length bytes: cos() at $address, and again at $again"
  [ "$address" = "$again" ] || exit 1  # its place is fixed
  echo "$address" >>"$folder/places"
done
places=$(sort -u "$folder/places" | wc -l)
echo "$places places"
[ "$places" -gt 1 ]
