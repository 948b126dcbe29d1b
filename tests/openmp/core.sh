#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# core.sh QUIRE ENDS: a node that crashes leaves a core where the plain program would, and the launcher says so. Skipped (77) where the system keeps cores elsewhere.
quire=$1 ends=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
case $(cat /proc/sys/kernel/core_pattern) in
  core*) ;;
  *) echo "skipped: cores are not written to the working directory"; exit 77 ;;
esac
ulimit -c unlimited 2>/dev/null || { echo "skipped: the limit of cores is fixed"; exit 77; }
OMP_NUM_THREADS=4
export OMP_NUM_THREADS
lines=$("$quire" run -n 2 --timeout 60 "$ends" crash 2>&1)
status=$?
echo "$lines"
ls -l
[ $status = 139 ] && echo "$lines" | grep -q "node 1 .*killed by signal 11 .*, core dumped" && [ "$(ls core* | wc -l)" = 1 ]
