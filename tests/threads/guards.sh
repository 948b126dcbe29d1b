#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# guards.sh LIBRARY: it has no static object of C++ within a function that is made at the first call. The guard of such a one may lock, and locks are
# what the library has in the place of libc's.
names=$(nm -C "$1") || exit 1
[ -n "$names" ] || { echo "$1 has no symbols"; exit 77; }
! echo "$names" | grep 'guard variable for'
